"""The layout of a message in one version (its fields and their sizes), and a builder for source text.

Shared by `decoding` and `encoding`; knows neither direction.
"""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from moldau.protocol.spec import Field, Message, fields_of

FIXED: Final[dict[object, tuple[str, int]]] = {
    "bool": ("?", 1),
    "int8": ("b", 1),
    "int16": ("h", 2),
    "uint16": ("H", 2),
    "int32": ("i", 4),
    "uint32": ("I", 4),
    "int64": ("q", 8),
    "float64": ("d", 8),
    "uuid": ("16s", 16),
}
"""Scalars of fixed size: struct code and number of bytes."""

STRING_BYTES_MAX: Final = 0x7FFF
"""The limit of the two-byte length in old versions; Kafka keeps it in the new ones."""


class Layout:
    """One version of one message."""

    def __init__(self, message: type[Message], version: int) -> None:
        if version not in message.VERSIONS:
            raise ValueError(f"{message.__name__} has versions {message.VERSIONS}, not {version}")
        self.title = f"{message.__name__} v{version}"
        self.version = version
        self.flexible = version in message.FLEXIBLE

    def has(self, field: Field) -> bool:
        return self.version in field.versions

    def has_null(self, field: Field) -> bool:
        return self.version in field.nullable

    def in_line(self, structure: type[Any]) -> list[Field]:
        return [field for field in fields_of(structure) if self.has(field) and field.tag is None]

    def tagged(self, structure: type[Any]) -> list[Field]:
        fields = [field for field in fields_of(structure) if self.has(field) and field.tag is not None]
        return sorted(fields, key=lambda field: field.tag or 0)

    def size_min(self, of: object) -> int:
        """The least number of bytes of a value of this type: a scalar's name or a structure."""
        if isinstance(of, type):
            tags = 1 if self.flexible else 0
            return tags + sum(self._field_size_min(field) for field in self.in_line(of))
        if of in FIXED:
            return FIXED[of][1]
        if self.flexible:
            return 1
        return 2 if of == "string" else 4

    def _field_size_min(self, field: Field) -> int:
        if field.is_array:
            return 1 if self.flexible else 4
        if isinstance(field.of, type) and self.has_null(field):
            return 1
        return self.size_min(field.of)


class Source:
    """Builds Python source. Fixed-size values are collected into a run that becomes one struct call."""

    def __init__(self, layout: Layout, names: dict[str, Any]) -> None:
        self.layout = layout
        self.names = names
        self._lines: list[str] = []
        self._indent = 1
        self._run: list[tuple[str, str]] = []

    def compile(self, signature: str) -> Any:
        self.flush()
        text = f"def {signature}:\n" + "\n".join(self._lines) + "\n"
        name = signature.partition("(")[0]
        # The text consists of our own declarations only; `decoding` says why source is generated.
        exec(compile(text, f"<{name} {self.layout.title}>", "exec"), self.names)  # noqa: S102
        return self.names[name]

    def name(self, value: Any, hint: str) -> str:
        """Makes an object available to the generated function."""
        name = f"{hint}_c{len(self.names)}"
        self.names[name] = value
        return name

    def default(self, field: Field) -> str:
        if field.is_array and field.default is not None:
            return "[]"
        if field.default is not None and isinstance(field.of, type):
            return self.name(field.default, field.name)
        return repr(field.default)

    def fixed(self, variable: str, code: str) -> None:
        self._run.append((variable, code))

    def flush(self) -> None:
        run, self._run = self._run, []
        if run:
            self.struct_call(struct.Struct(">" + "".join(code for _, code in run)), [name for name, _ in run])

    def struct_call(self, compiled: struct.Struct, variables: list[str]) -> None:
        raise NotImplementedError

    def emit(self, line: str) -> None:
        self.flush()
        self.prepare(line)

    def prepare(self, line: str) -> None:
        """Adds a line that may run before the current run."""
        self._lines.append("    " * self._indent + line)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        self.emit(head)
        self._indent += 1
        yield
        self.flush()
        self._indent -= 1
