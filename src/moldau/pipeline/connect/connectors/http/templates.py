"""Texts with placeholders such as `${key}`: of a record, or of an offset. Pure."""

import re
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import quote

from moldau.pipeline.connect.data.errors import DataError

_PLACE: Final = re.compile(r"\$\{([^}!]+)(?:!([^}]*))?\}")


class Template:
    def __init__(self, text: str) -> None:
        self.text = text
        self.names = [found[1].strip() for found in _PLACE.finditer(text)]

    def filled(self, value_of: Callable[[str], Any], *, is_url: bool = False) -> str:
        """In an address values are escaped, also slashes. `${name!text}` has the text where there is no value; without
        a text, DataError is raised."""

        def text_of(found: re.Match[str]) -> str:
            value = value_of(found[1].strip())
            if value is None:
                if found[2] is None:
                    raise DataError(f"{self.text} needs {found[1].strip()}, which is missing or null")
                value = found[2]
            text = plain_text(value)
            return quote(text, safe="") if is_url else text

        return _PLACE.sub(text_of, self.text) if self.names else self.text


def plain_text(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case bytes():
            return value.decode(errors="replace")
        case dict() | list():
            raise DataError(f"{value!r} is no single value, and cannot be part of a text")
    return str(value)


def at_pointer(value: Any, pointer: str) -> Any:
    """What a JSON pointer (RFC 6901) finds; None if there is nothing. A value is found by the empty pointer."""
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(name)
        elif isinstance(value, list) and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value
