"""Texts with placeholders such as `${key}`: of a record, or of an offset. Pure."""

import re
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import quote

from moldau.pipeline.connect.connectors.http.settings import without_login
from moldau.pipeline.connect.data.errors import DataError

_FILLED: Final = "\0"
"""Surrounds what was filled into an address. An escaped value has none."""
_SEPARATOR: Final = re.compile(r"/|\\|%2F|%5C", re.IGNORECASE)
_PLACE: Final = re.compile(r"\$\{([^}!]+)(?:!([^}]*))?\}")


class Template:
    def __init__(self, text: str) -> None:
        self.text = text
        self.names = [found[1].strip() for found in _PLACE.finditer(text)]

    def filled(self, value_of: Callable[[str], Any], *, is_url: bool = False) -> str:
        """In an address values are escaped, also slashes. `${name!text}` has the text where there is no value; without
        a text, DataError is raised, and so it is for values that would make another path of an address: empty ones,
        `.` and `..`, which no escaping keeps."""

        def text_of(found: re.Match[str]) -> str:
            value = value_of(found[1].strip())
            if value is None:
                if found[2] is None:
                    raise DataError(
                        f"{self._shown(is_url)} needs {found[1].strip()}, which is missing or null"
                    )
                value = found[2]
            text = plain_text(value)
            return f"{_FILLED}{quote(text, safe='')}{_FILLED}" if is_url else text

        if not self.names:
            return self.text
        filled = _PLACE.sub(text_of, self.text)
        return self._checked(filled) if is_url else filled

    def _shown(self, is_url: bool) -> str:
        """An address without its query and a login: they may have secrets."""
        return without_login(self.text.partition("?")[0]) if is_url else self.text

    def _checked(self, filled: str) -> str:
        for segment in re.split(r"[?#]", filled)[0].split("/"):
            if _FILLED not in segment:
                continue
            whole = segment.replace(_FILLED, "")
            if not whole or any(one in (".", "..") for one in _SEPARATOR.split(whole)):
                raise DataError(
                    f"it makes {whole or 'nothing'} of a part of the address {self._shown(True)}, and so another one: "
                    "leave such records out with a transformation, or put the value into the query"
                )
        return filled.replace(_FILLED, "")


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
