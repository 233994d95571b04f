"""Properties files: whatever Java would write reads back, and whatever comes instead is at worst a ConfigError."""

from hypothesis import given, settings
from hypothesis import strategies as st

from moldau.core.errors import ConfigError
from moldau.core.settings.properties import parse_properties

LETTERS = st.sampled_from("ab =:#!\\\t\n\r\fé€")
TEXTS = st.text(LETTERS, max_size=12)
ESCAPES = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\f": "\\f", "\\": "\\\\"}


def stored(text: str, *, is_name: bool) -> str:
    """As java.util.Properties.store writes it."""
    written = []
    for position, letter in enumerate(text):
        if letter in ESCAPES:
            written.append(ESCAPES[letter])
        elif letter in "=:#!" or (letter == " " and (is_name or position == 0)):
            written.append("\\" + letter)
        elif ord(letter) > 126:
            written.append(f"\\u{ord(letter):04X}")
        else:
            written.append(letter)
    return "".join(written)


@settings(max_examples=200)
@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=5), st.sampled_from(["\n", "\r\n", "\r"]))
def test_what_java_stores_reads_back(pairs: list[tuple[str, str]], newline: str) -> None:
    lines = [f"{stored(name, is_name=True)}={stored(value, is_name=False)}" for name, value in pairs]
    text = f"#a comment{newline}" + newline.join(lines)
    assert [(name, value) for name, value, _ in parse_properties(text)] == pairs


@settings(max_examples=200)
@given(st.text(st.sampled_from("ab=: \\u0#!\n\t"), max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        properties = parse_properties(text)
    except ConfigError:
        return
    assert all(1 <= line <= text.count("\n") + 1 for _, _, line in properties)
