"""The path to a field (KIP-821): with syntax V1 one name, with V2 names with dots between them, as in `order.customer`.

A name that has dots itself stands between backticks in V2; a backtick before a dot or the end is written as \\` in it.
"""

import re
from typing import Any, Final

from moldau.core.errors import ConfigError
from moldau.core.settings.checks import one_of
from moldau.core.settings.key import Importance, string
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.schema import Field, Schema, SchemaType
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.connect.declarations import Declaration

SYNTAX_VERSION: Final = "field.syntax.version"
SYNTAX_VERSION_DECLARATION: Final = Declaration(
    string(
        SYNTAX_VERSION,
        "V1",
        "How fields are named. With V1 a name is that of a field of the struct or map itself. With V2 a name with dots "
        "is a path to a nested field; a field whose own name has dots stands between backticks, as in "
        "`foo.bar`.baz.",
        importance=Importance.HIGH,
        check=one_of("V1", "V2", ignore_case=True),
    )
)
_BACKTICK_END: Final = re.compile(r"`(?=\.|$)")


class FieldPath:
    def __init__(self, text: str, version: str) -> None:
        """Raises ConfigError for a backtick without its second one."""
        self.text = text
        self.steps = (text,) if version.upper() == "V1" else tuple(_steps(text))

    def field_of(self, schema: Schema) -> Field | None:
        """Raises DataError where the path goes through what is no struct."""
        found: Field | None = None
        for place, step in enumerate(self.steps):
            inner = schema if found is None else found.schema
            if inner.type is not SchemaType.STRUCT:
                before = ".".join(self.steps[:place])
                raise DataError(
                    f"the path {self.text} goes through {before or 'a value'}, which is no struct but {inner}"
                )
            found = inner.field(step)
            if found is None:
                return None
        return found

    def value_in_struct(self, struct: Struct, *, with_default: bool) -> Any:
        """Of a path that the schema has. None where there is no struct on the way."""
        current: Any = struct
        for step in self.steps:
            if current is None:
                return None
            current = current[step] if with_default else current.without_default(step)
        return current

    def value_in_dict(self, value: dict[str, Any]) -> Any:
        """None where nothing is. Raises DataError where the path goes through what is no object."""
        current: Any = value
        for place, step in enumerate(self.steps):
            if current is None:
                return None
            if type(current) is not dict:
                raise DataError(
                    f"the path {self.text} goes through {'.'.join(self.steps[:place])}, which is no object with "
                    f"fields but a {type(current).__name__}"
                )
            current = current.get(step)
        return current


def _steps(text: str) -> list[str]:
    found = []
    at = 0
    while at < len(text):
        if text[at] == "`":
            name, at = _quoted(text, at)
        else:
            end = text.find(".", at)
            end = len(text) if end < 0 else end
            name, at = text[at:end], end + 1
        found.append(name)
    if text.endswith("."):
        found.append("")
    return found


def _quoted(text: str, start: int) -> tuple[str, int]:
    """The name between the backtick at `start` and the next one that ends a step, and where to go on."""
    at = start + 1
    parts: list[str] = []
    for match in _BACKTICK_END.finditer(text, at):
        end = match.start()
        is_escaped = text[end - 1] == "\\"
        if not is_escaped:
            return "".join([*parts, text[at:end]]), end + 2
        if end == len(text) - 1:
            break
        parts.append(text[at : end - 1] + "`")
        at = end + 1
    raise ConfigError(
        f"Incomplete backtick pair in path: [{text}], consider adding a backslash before backtick at position {start} "
        "to escape it"
    )
