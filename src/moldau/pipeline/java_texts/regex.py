"""Regular expressions as Java writes them.

RE2 runs them, in time that grows with the text alone. Python's engine, which takes a tenth of the time on a short text,
runs the simple ones on texts so short that it cannot take long. It also runs what RE2 does not have (look-around,
back-references, possessive quantifiers), and may then take long on a text that almost matches, as it may in Java.
"""

import re
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Final, NamedTuple

import re2

from moldau.pipeline.java_texts.regex_cost import cost

QUICK_LENGTH_MIN: Final = 16
"""A pattern that is quick for shorter texts only is not worth a second engine."""

_POSIX: Final = {
    "Lower": "a-z",
    "Upper": "A-Z",
    "ASCII": "\\x00-\\x7F",
    "Alpha": "a-zA-Z",
    "Digit": "0-9",
    "Alnum": "a-zA-Z0-9",
    "Punct": "!-/:-@\\[-`{-~",
    "Graph": "!-~",
    "Print": "\\x20-~",
    "Blank": " \\t",
    "Cntrl": "\\x00-\\x1F\\x7F",
    "XDigit": "0-9a-fA-F",
    "Space": " \\t\\n\\x0B\\f\\r",
}
"""Java's \\p{...} of ASCII, as the inside of a class."""

_UNICODE: Final = {
    "IsAlphabetic": "\\p{L}\\p{Nl}",
    "IsLetter": "\\p{L}",
    "IsDigit": "\\p{Nd}",  # codespell:ignore nd
    "IsUppercase": "\\p{Lu}",
    "IsLowercase": "\\p{Ll}",
    "IsPunctuation": "\\p{P}",
    "IsWhite_Space": "\\s\\x0B\\x{85}\\p{Z}",
    "javaLowerCase": "\\p{Ll}",
    "javaUpperCase": "\\p{Lu}",
}
_ESCAPES: Final = {
    "h": "[ \\t\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{202F}\\x{205F}\\x{3000}]",
    "R": "(?:\\r\\n|[\\n\\x0B\\f\\r\\x{85}\\x{2028}\\x{2029}])",
    "Z": "(?:\\r?\\n)?\\z",
    "e": "\\x1B",
    "s": "[ \\t\\n\\x{0B}\\f\\r]",
}
_ALONE: Final = {"$": "\\z", "\\S": "[^ \\t\\n\\x{0B}\\f\\r]"}
"""What the engines read in different ways, where it does not stand in a class."""
_PIECE: Final = re.compile(
    r"\\Q(?P<quoted>.*?)(?:\\E|$)|\\u(?P<unicode>[0-9A-Fa-f]{4})|\\(?P<sign>[pP])\{(?P<property>\w+)\}"
    r"|\\(?P<escape>[hRZes])|\\.|\[\^?|\]|&&|.",
    re.S,
)
_MULTI_LINE: Final = re.compile(r"\(\?[a-z]*m")
_GROUP_NAME: Final = re.compile(r"\(\?<(?=[A-Za-z])")
_NAMED_REFERENCE: Final = re.compile(r"\\k<(\w+)>")
_CODE_POINT: Final = re.compile(r"\\x\{([0-9A-Fa-f]+)\}")
_PROPERTY: Final = re.compile(r"\\[pP]")
_REFERENCE: Final = re.compile(
    r"\\(?P<literal>.)|\$(?P<number>\d)|\$\{(?P<name>\w+)\}|(?P<wrong>[$\\])", re.S
)


class _Engines(NamedTuple):
    linear: Any
    quick: Any
    search_length_max: int
    """How long a text the quick engine may be given to find one match."""
    scan_length_max: int
    """The same to find all matches. After an empty match Java and Python go on in different ways."""


def to_search(pattern: str, text: str) -> Any:
    """A `re.Pattern`, or what has its methods, to find one match in this text; ValueError says what is wrong with the
    pattern."""
    found = _engines(pattern)
    return found.quick if len(text) <= found.search_length_max else found.linear


def to_scan(pattern: str, text: str) -> Any:
    """The same to find all matches."""
    found = _engines(pattern)
    return found.quick if len(text) <= found.scan_length_max else found.linear


@lru_cache(maxsize=512)
def _engines(pattern: str) -> _Engines:
    translated = _translated(pattern)
    options = re2.Options()
    options.log_errors = False
    try:
        linear = re2.compile(translated, options)
    except re2.error as wrong:
        return _Engines(_backtracking(pattern, translated, wrong.args[0]), None, -1, -1)
    length_max, is_never_empty = cost(translated)
    quick = _in_python(translated) if length_max >= QUICK_LENGTH_MIN else None
    if quick is None:
        return _Engines(linear, None, -1, -1)
    return _Engines(linear, quick, length_max, length_max if is_never_empty else -1)


def _backtracking(pattern: str, translated: str, reason: Any) -> re.Pattern[str]:
    found = None if _PROPERTY.search(translated) else _in_python(translated)
    if found is None:
        raise ValueError(_told(pattern, reason))
    return found


def _in_python(translated: str) -> re.Pattern[str] | None:
    own = _NAMED_REFERENCE.sub(r"(?P=\1)", _GROUP_NAME.sub("(?P<", translated)).replace("\\z", "\\Z")
    own = _CODE_POINT.sub(lambda found: re.escape(chr(int(found[1], 16))), own)
    try:
        with warnings.catch_warnings(action="ignore", category=FutureWarning):
            return re.compile(own, re.ASCII)
    except (re.error, OverflowError, RecursionError):
        return None


def _told(pattern: str, reason: Any) -> str:
    text = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
    return f"{pattern!r} is no regular expression: {text}"


def _translated(pattern: str) -> str:
    """With what both engines know in the place of what Java alone knows."""
    parts: list[str] = []
    depth = 0
    for found in _PIECE.finditer(pattern):
        piece = found[0]
        if depth and piece in ("&&", "[^"):
            what = "intersects two classes with &&" if piece == "&&" else "negates a class inside of a class"
            raise ValueError(f"{pattern!r} {what}, which is not supported: use look-ahead")
        if piece.startswith("["):
            depth += 1
        is_inner = depth > 1 and piece in ("[", "]")
        if piece == "]" and depth:
            depth -= 1
        parts.append("" if is_inner else _translated_piece(found, depth > 0))
    return "".join(parts)


def _translated_piece(found: re.Match[str], is_in_class: bool) -> str:
    if found["quoted"] is not None:
        return re.escape(found["quoted"])
    if found["unicode"]:
        return f"\\x{{{found['unicode']}}}"
    if found["escape"]:
        known = _ESCAPES[found["escape"]]
        return known[1:-1] if is_in_class and known.startswith("[") else known
    if found["property"]:
        return _property(found["sign"] == "P", found["property"], is_in_class)
    is_line_end = found[0] == "$" and _MULTI_LINE.search(found.string)
    return found[0] if is_in_class or is_line_end else _ALONE.get(found[0], found[0])


def _property(is_negated: bool, name: str, is_in_class: bool) -> str:
    inside = _POSIX.get(name) or _UNICODE.get(name)
    if inside is None:
        script = name.removeprefix("Is") if name.startswith("Is") else name
        return f"\\{'P' if is_negated else 'p'}{{{script}}}"
    if is_in_class and not is_negated:
        return inside
    if is_in_class:
        raise ValueError(f"\\P{{{name}}} inside of a class is not supported: negate the class instead")
    return f"[{'^' if is_negated else ''}{inside}]"


@lru_cache(maxsize=512)
def replacement(text: str) -> Callable[[Any], str]:
    """What stands for a match: $1 and ${name} are its groups, a backslash takes the next character as it is."""
    parts = list(_replacement_parts(text))
    if all(is_text for is_text, _ in parts):
        constant = "".join(str(part) for _, part in parts)
        return lambda match: constant
    return lambda match: "".join(str(part) if is_text else match.group(part) or "" for is_text, part in parts)


def _replacement_parts(text: str) -> Iterator[tuple[bool, str | int]]:
    """Texts, and the numbers and names of groups."""
    end = 0
    for found in _REFERENCE.finditer(text):
        yield True, text[end : found.start()]
        end = found.end()
        if found["literal"] is not None:
            yield True, found["literal"]
        elif found["number"] or found["name"]:
            yield False, int(found["number"]) if found["number"] else found["name"]
        else:
            raise ValueError(f"{text!r} is no replacement: write \\{found['wrong']} for {found['wrong']}")
    yield True, text[end:]
