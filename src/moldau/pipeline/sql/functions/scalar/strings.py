"""Text: its case, its length, its parts, and joining and splitting it. Some of them take BYTES as well.

Positions count from 1, and from the end where they are negative. A character is a Unicode code point.
"""

from collections.abc import Callable
from typing import Any, Final

from moldau.pipeline.sql.functions.declaration import Category, Form, Parameter, Pattern, Scalar
from moldau.pipeline.sql.types import BYTES, INTEGER, STRING, Array, Map, SqlType

_SPACES: Final = " \t\n\x0b\f\r"
"""What stands between words."""

_BLANKS: Final = "".join(map(chr, range(33)))
"""What Java's `trim` removes: every character up to the space."""

LENGTH_MAX: Final = 10_000_000
"""How long LPAD and RPAD make a text at most."""

TextOrBytes = Any
"""str or bytes: most of what Python does with one it does with the other."""


def initcap(text: str) -> str:
    """Upper-case for the first letter after white space, lower-case for the others. White space in front is dropped."""
    letters, at_start = [], True
    for letter in text.lower().lstrip(_SPACES):
        letters.append(letter.upper() if at_start else letter)
        at_start = letter in _SPACES
    return "".join(letters)


def trim(text: str) -> str:
    return text.strip(_BLANKS)


def substring(value: TextOrBytes, position: int, length: int | None = None) -> TextOrBytes:
    size = len(value)
    start = max(size + position, 0) if position < 0 else max(position - 1, 0)
    return value[start:] if length is None else value[start : start + max(length, 0)]


def instr(text: str | None, part: str | None, position: int | None = 1, occurrence: int | None = 1) -> int:
    """Where the part stands: 0 where it does not. From a negative position the search goes backwards."""
    if text is None or part is None or position is None or occurrence is None:
        return 0
    if position == 0 or occurrence < 1 or abs(position) > len(text):
        return 0
    if position > 0:
        place = position - 2
        for _ in range(occurrence):
            place = text.find(part, place + 1)
            if place < 0:
                break
    else:
        end = len(text) + position + 1
        for _ in range(occurrence):
            place = text.rfind(part, 0, end)
            if place < 0:
                break
            end = place + len(part) - 1
    return place + 1


def lpad(value: TextOrBytes, length: int, padding: TextOrBytes) -> TextOrBytes:
    filling = _filling(value, length, padding)
    return None if filling is None else (filling + value)[:length]


def rpad(value: TextOrBytes, length: int, padding: TextOrBytes) -> TextOrBytes:
    filling = _filling(value, length, padding)
    return None if filling is None else (value + filling)[:length]


def _filling(value: TextOrBytes, length: int, padding: TextOrBytes) -> TextOrBytes:
    """What is missing to the length; None where there is nothing to pad with."""
    if not padding or length < 0:
        return None
    if length > LENGTH_MAX:
        raise ValueError(f"{length} characters are too many to pad to; {LENGTH_MAX} are the most")
    missing = max(0, length - len(value))
    return (padding * (missing // len(padding) + 1))[:missing]


def concat(*texts: str | None) -> str:
    return "".join(filter(None, texts))


def concat_bytes(*values: bytes | None) -> bytes:
    return b"".join(filter(None, values))


def concat_ws(separator: TextOrBytes, *values: TextOrBytes) -> TextOrBytes:
    return None if separator is None else separator.join(value for value in values if value is not None)


def split(value: TextOrBytes, delimiter: TextOrBytes) -> list[TextOrBytes]:
    if delimiter:
        return list(value.split(delimiter))
    return [value[place : place + 1] for place in range(len(value))] or [value]


def split_to_map(text: str, entry_delimiter: str, key_delimiter: str) -> dict[str, str] | None:
    if not entry_delimiter or not key_delimiter or entry_delimiter == key_delimiter:
        return None
    entries = (entry.split(key_delimiter) for entry in text.split(entry_delimiter) if key_delimiter in entry)
    return {entry[0]: entry[1] for entry in entries}


def elt(position: int | None, *texts: str | None) -> str | None:
    return texts[position - 1] if position is not None and 1 <= position <= len(texts) else None


def field(text: str | None, *texts: str | None) -> int:
    return texts.index(text) + 1 if text is not None and text in texts else 0


def chr_of_number(code: int) -> str | None:
    is_character = 0 <= code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF
    return chr(code) if is_character else None


def chr_of_text(text: str) -> str | None:
    r"""`\u004b` is K; two in a row may be the halves of one character."""
    if len(text) % 6 or not text:
        return None
    units = [text[place : place + 6] for place in range(0, len(text), 6)]
    if not all(unit.startswith("\\u") for unit in units):
        return None
    try:
        return b"".join(int(unit[2:], 16).to_bytes(2, "big") for unit in units).decode("utf-16-be")
    except ValueError:
        return None


_TEXT: Final = Parameter("text", STRING)
_DELIMITER: Final = "what stands between the parts; an empty one cuts between all characters"


def _of_text(name: str, doc: str, meaning: Callable[..., Any], *examples: str) -> Scalar:
    return Scalar(name, Category.STRING, doc, (Form((_TEXT,), STRING),), meaning, examples=examples)


def _padding_forms() -> tuple[Form, ...]:
    length = Parameter("length", INTEGER, "how long the result is")
    return tuple(
        Form((Parameter("value", kind), length, Parameter("padding", kind)), kind) for kind in (STRING, BYTES)
    )


def _substring_forms(kind: SqlType) -> tuple[Form, ...]:
    value = Parameter("value", kind)
    position = Parameter("position", INTEGER, "of the first character: 1 is the first, -1 the last one")
    length = Parameter("length", INTEGER, "how many characters; all up to the end without it")
    return Form((value, position), kind), Form((value, position, length), kind)


def _joining_forms(*first: Callable[[SqlType], Parameter]) -> tuple[Form, ...]:
    return tuple(
        Form((*(make(kind) for make in first), Parameter("values", kind)), kind, is_variadic=True)
        for kind in (STRING, BYTES)
    )


def _separator(kind: Pattern) -> Parameter:
    return Parameter("separator", kind)


_INSTR: Final = (
    _TEXT,
    Parameter("part", STRING, "what is looked for"),
    Parameter("position", INTEGER, "where the search begins; a negative one searches backwards from there"),
    Parameter("occurrence", INTEGER, "which of several is meant"),
)

FUNCTIONS: Final[tuple[Scalar, ...]] = (
    Scalar(
        "CHR",
        Category.STRING,
        "The character with a Unicode code point, given as a number or as an escape such as '\\u004b'. "
        "NULL where there is none.",
        (
            Form((Parameter("code", INTEGER),), STRING, meaning=chr_of_number),
            Form((Parameter("escape", STRING),), STRING, meaning=chr_of_text),
        ),
        examples=("CHR(75) => 'K'", "CHR('\\u004b') => 'K'", "CHR(22909) => '好'", "CHR(-1) => NULL"),
    ),
    Scalar(
        "CONCAT",
        Category.STRING,
        "Joins texts, or bytes. A null counts as empty.",
        (
            Form((Parameter("texts", STRING),), STRING, is_variadic=True, meaning=concat),
            Form((Parameter("values", BYTES),), BYTES, is_variadic=True, meaning=concat_bytes),
        ),
        takes_null=True,
        examples=("CONCAT('stream', 'ing', ' ', 'SQL') => 'streaming SQL'", "CONCAT('a', NULL, 'b') => 'ab'"),
    ),
    Scalar(
        "CONCAT_WS",
        Category.STRING,
        "Joins texts, or bytes, with a separator between them. Nulls are skipped; a null separator gives null.",
        _joining_forms(_separator),
        concat_ws,
        takes_null=True,
        examples=("CONCAT_WS(', ', 'tea', NULL, 'milk') => 'tea, milk'", "CONCAT_WS(NULL, 'a', 'b') => NULL"),
    ),
    Scalar(
        "ELT",
        Category.STRING,
        "The text at a position among the arguments after it; NULL where there is none.",
        (Form((Parameter("position", INTEGER), Parameter("texts", STRING)), STRING, is_variadic=True),),
        elt,
        takes_null=True,
        examples=("ELT(2, 'low', 'medium', 'high') => 'medium'", "ELT(4, 'low', 'medium', 'high') => NULL"),
    ),
    Scalar(
        "FIELD",
        Category.STRING,
        "The position of a text among the arguments after it; 0 where it is not among them, or is null.",
        (Form((_TEXT, Parameter("texts", STRING)), INTEGER, is_variadic=True),),
        field,
        takes_null=True,
        examples=("FIELD('high', 'low', 'medium', 'high') => 3", "FIELD(NULL, 'low', NULL) => 0"),
    ),
    _of_text(
        "INITCAP",
        "Each word with a capital letter, all other letters in lower case.",
        initcap,
        "INITCAP('the quick BROWN fox') => 'The Quick Brown Fox'",
    ),
    Scalar(
        "INSTR",
        Category.STRING,
        "The position of a part in a text; 0 where it is not found.",
        tuple(Form(_INSTR[:count], INTEGER) for count in (2, 3, 4)),
        instr,
        takes_null=True,
        examples=(
            "INSTR('banana', 'an') => 2",
            "INSTR('banana', 'an', 3) => 4",
            "INSTR('banana', 'an', 1, 2) => 4",
            "INSTR('banana', 'an', -1) => 4",
            "INSTR('banana', 'an', -1, 2) => 2",
            "INSTR('banana', 'x') => 0",
        ),
    ),
    _of_text("LCASE", "The text in lower case.", str.lower, "LCASE('Moldau') => 'moldau'"),
    Scalar(
        "LEN",
        Category.STRING,
        "How many characters a text has, or how many bytes BYTES have.",
        (Form((_TEXT,), INTEGER), Form((Parameter("value", BYTES),), INTEGER)),
        len,
        examples=("LEN('Moldau') => 6", "LEN(TO_BYTES('0aff', 'hex')) => 2"),
    ),
    Scalar(
        "LPAD",
        Category.STRING,
        "Fills up from the left to a length; what is longer is cut. NULL without padding or for a negative length.",
        _padding_forms(),
        lpad,
        examples=(
            "LPAD('42', 5, '0') => '00042'",
            "LPAD('abcdef', 3, '-') => 'abc'",
            "LPAD('42', 5, '') => NULL",
        ),
    ),
    Scalar(
        "REPLACE",
        Category.STRING,
        "The text with another part wherever one part stood.",
        (Form((_TEXT, Parameter("old", STRING), Parameter("new", STRING)), STRING),),
        str.replace,
        examples=("REPLACE('2024-01-31', '-', '/') => '2024/01/31'",),
    ),
    Scalar(
        "RPAD",
        Category.STRING,
        "Fills up from the right to a length; what is longer is cut. NULL without padding or for a negative length.",
        _padding_forms(),
        rpad,
        examples=(
            "RPAD('ab', 5, 'xy') => 'abxyx'",
            "RPAD('abcdef', 3, '-') => 'abc'",
            "RPAD('ab', -1, 'x') => NULL",
        ),
    ),
    Scalar(
        "SPLIT",
        Category.STRING,
        "The parts of a text, or of bytes, between the places where a delimiter stands.",
        (
            Form((_TEXT, Parameter("delimiter", STRING, _DELIMITER)), Array(STRING)),
            Form((Parameter("value", BYTES), Parameter("delimiter", BYTES, _DELIMITER)), Array(BYTES)),
        ),
        split,
        examples=(
            "SPLIT('a,b,,c', ',') => ARRAY['a', 'b', '', 'c']",
            "SPLIT('abc', '') => ARRAY['a', 'b', 'c']",
            "SPLIT('abc', '-') => ARRAY['abc']",
        ),
    ),
    Scalar(
        "SPLIT_TO_MAP",
        Category.STRING,
        "A map out of entries written in a text. Of entries with the same key the last one counts; one without "
        "the second delimiter is left out. NULL where a delimiter is empty or both are the same.",
        (
            Form(
                (
                    _TEXT,
                    Parameter("entry_delimiter", STRING, "stands between two entries"),
                    Parameter("key_delimiter", STRING, "stands between a key and its value"),
                ),
                Map(STRING, STRING),
            ),
        ),
        split_to_map,
        examples=("SPLIT_TO_MAP('a=1;b=2;a=3', ';', '=') => MAP('a' := '3', 'b' := '2')",),
    ),
    Scalar(
        "SUBSTRING",
        Category.STRING,
        "A part of a text, or of bytes.",
        (*_substring_forms(STRING), *_substring_forms(BYTES)),
        substring,
        examples=(
            "SUBSTRING('stream', 2, 3) => 'tre'",
            "SUBSTRING('stream', 4) => 'eam'",
            "SUBSTRING('stream', -2) => 'am'",
            "SUBSTRING('stream', -4, 2) => 're'",
            "SUBSTRING('stream', 9) => ''",
        ),
    ),
    _of_text("TRIM", "The text without the white space around it.", trim, "TRIM('  a b ') => 'a b'"),
    _of_text("UCASE", "The text in upper case.", str.upper, "UCASE('Moldau') => 'MOLDAU'"),
)
