"""The Common Event Format: CEF:Version|Vendor|Product|Version|Event class|Name|Severity|Extension. Pure."""

import re
from typing import Final, NamedTuple

PREFIX: Final = "CEF:"
HEADERS: Final = 7
_SEPARATOR: Final = re.compile(r"(?<!\\)(?:\\\\)*\|")
_KEY: Final = re.compile(r"(?:^|(?<=\s))([\w.\[\]]+)=")
_ESCAPED: Final = re.compile(r"\\(.)")
_MEANING: Final = {"n": "\n", "r": "\r"}


class CommonEvent(NamedTuple):
    version: int
    device_vendor: str
    device_product: str
    device_version: str
    device_event_class_id: str
    name: str
    severity: str
    extension: dict[str, str]


def common_event(text: str) -> CommonEvent | None:
    """None if the text is something else."""
    if not text.startswith(PREFIX):
        return None
    parts = _split(text.removeprefix(PREFIX))
    if len(parts) <= HEADERS - 1 or not parts[0].strip().isdecimal():
        return None
    parts += [""] * (HEADERS + 1 - len(parts))
    vendor, product, version, event_class, name, severity = map(_plain, parts[1:HEADERS])
    extension = _extension(parts[HEADERS])
    return CommonEvent(int(parts[0]), vendor, product, version, event_class, name, severity, extension)


def _split(text: str) -> list[str]:
    parts, place = [], 0
    for match in _SEPARATOR.finditer(text):
        parts.append(text[place : match.end() - 1])
        place = match.end()
        if len(parts) == HEADERS:
            break
    return [*parts, text[place:]]


def _extension(text: str) -> dict[str, str]:
    """A value goes up to the next key; it may have spaces, and equals signs behind a backslash."""
    keys = list(_KEY.finditer(text))
    ends = [*(one.start() for one in keys[1:]), len(text)]
    return {key[1]: _plain(text[key.end() : end].strip()) for key, end in zip(keys, ends, strict=False)}


def _plain(text: str) -> str:
    return _ESCAPED.sub(lambda match: _MEANING.get(match[1], match[1]), text)
