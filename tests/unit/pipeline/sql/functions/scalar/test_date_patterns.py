"""How patterns are cut into pieces, and which are refused."""

import pytest

from moldau.pipeline.sql.functions.scalar.date_patterns import Field, Section, pieces


def test_pieces() -> None:
    assert pieces("yyyy-MM'T'") == (Field("y", 4), "-", Field("M", 2), "T")
    assert pieces("h 'o''clock'") == (Field("h", 1), " ", "o'clock")
    assert pieces("H''m") == (Field("H", 1), "'", Field("m", 1))
    assert pieces("H[:m[:s]]") == (
        Field("H", 1),
        Section((":", Field("m", 1), Section((":", Field("s", 1))))),
    )
    assert pieces("H[:m") == (Field("H", 1), Section((":", Field("m", 1))))
    assert pieces("") == ()


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("yyyy-MM-ddThh", "the letter T, which stands for nothing"),
        ("H'", "a quote without an end"),
        ("H]", "a ] without a ["),
        ("HHH", "too many letters H"),
        ("MMMMMM", "too many letters M"),
        ("V", "write VV"),
        ("{H}", "which is reserved"),
        ("SSSSSSSSSS", "too many letters S"),
    ],
)
def test_what_is_no_pattern(pattern: str, message: str) -> None:
    with pytest.raises(ValueError, match="the pattern") as wrong:
        pieces(pattern)
    assert message in str(wrong.value)
