"""Turns the tree back into text, laid out as Confluent's registry stores it.

Canonical text has no comments and keeps the author's order. Normalised text has fields ordered by number, options by
name, and every type with its full name.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from moldau.registry.schemas.protobuf.options import normalized_options, number_shown
from moldau.registry.schemas.protobuf.symbols import Symbols
from moldau.registry.schemas.protobuf.syntax import (
    MAX_NUMBER,
    SCALARS,
    Aggregate,
    Enum,
    Extend,
    Extensions,
    Field,
    Group,
    Message,
    Oneof,
    Option,
    ProtoFile,
    Quoted,
    Reserved,
    Rpc,
    Service,
    Several,
    Span,
    Value,
    Word,
)

T = TypeVar("T")
_ESCAPES = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"} | {
    "\\": "\\\\",
    "'": "\\'",
    '"': '\\"',
}


class Writer:
    """`symbols` are passed to normalise, and only then."""

    def __init__(self, file: ProtoFile, symbols: Symbols | None = None) -> None:
        self._file = file
        self._symbols = symbols
        self._scope: list[str] = []

    def text(self) -> str:
        file = self._file
        blocks = [self._head()]
        blocks += ["".join(self._option_lines(file.options))]
        types = [self._message(message) for message in file.messages]
        types += [self._enum(enum) for enum in file.enums]
        blocks.append("".join(types))
        blocks.append("".join(self._extend(extend) for extend in self._extends(file.extends)))
        blocks.append("".join(self._service(service) for service in file.services))
        head, *rest = blocks
        return head + "".join(f"\n{block}" for block in rest if block)

    def _head(self) -> str:
        file = self._file
        lines: list[str] = []
        if file.edition:
            lines.append(f'edition = "{file.edition}";\n')
        elif file.syntax and (self._symbols is None or file.is_proto3):
            lines.append(f'syntax = "{file.syntax}";\n')
        if file.package:
            lines.append(f"package {file.package};\n")
        if file.imports:
            lines.append("\n")
            for kind in ("", "option", "weak", "public"):
                paths: Iterable[str] = [found.path for found in file.imports if found.kind == kind]
                if self._symbols is not None:
                    paths = sorted(set(paths))
                lines += [f'import {kind + " " if kind else ""}"{path}";\n' for path in paths]
        return "".join(lines)

    def _message(self, message: Message) -> str:
        self._scope.append(message.name)
        blocks = ["".join(map(self._reserved, self._ranges(message.reserved)))]
        blocks.append("".join(self._option_lines(message.options)))
        blocks += self._message_body(message)
        self._scope.pop()
        return f"message {message.name} {_braced(blocks)}"

    def _message_body(self, message: Message) -> list[str]:
        blocks = ["".join(map(self._field, self._sorted(message.fields, lambda field: field.number)))]
        oneofs = message.oneofs
        if self._symbols is not None:
            oneofs = sorted(
                (oneof for oneof in oneofs if oneof.fields),
                key=lambda oneof: min(field.number for field in oneof.fields),
            )
        blocks.append("".join(map(self._oneof, oneofs)))
        blocks.append("".join(map(self._group, self._sorted(message.groups, lambda group: group.number))))
        blocks.append("".join(map(self._extensions, self._extension_ranges(message.extensions))))
        blocks.append("".join(self._extend(extend) for extend in self._extends(message.extends)))
        types = [self._message(nested) for nested in message.messages]
        types += [self._enum(enum) for enum in message.enums]
        return [*blocks, "".join(types)]

    def _field(self, field: Field) -> str:
        label = field.label
        field_type = field.type_shown
        if self._symbols is not None and field.type not in SCALARS:
            field_type = self._resolved_type(field)
            label = None if field_type.startswith("map<") else label
        prefix = f"{label} " if label else ""
        return f"{prefix}{field_type} {field.name} = {field.number}{self._bracketed(_last(field.options))};\n"

    def _resolved_type(self, field: Field) -> str:
        assert self._symbols is not None
        found = self._symbols.find(field.type, self._scope)
        if found is None:
            return field.type_shown
        if field.key_type is None and isinstance(found.node, Message) and found.node.is_map_entry:
            key, value = found.node.fields[0], found.node.fields[1]
            return f"map<{key.type}, {self._full(value.type)}>"
        return f"map<{field.key_type}, .{found.full}>" if field.key_type else f".{found.full}"

    def _full(self, name: str) -> str:
        if self._symbols is None or name in SCALARS:
            return name
        found = self._symbols.find(name, self._scope)
        return f".{found.full}" if found else name

    def _oneof(self, oneof: Oneof) -> str:
        blocks = ["".join(self._option_lines(oneof.options))]
        blocks.append("".join(map(self._field, self._sorted(oneof.fields, lambda field: field.number))))
        blocks.append("".join(map(self._group, self._sorted(oneof.groups, lambda group: group.number))))
        return f"oneof {oneof.name} {_braced(blocks)}"

    def _group(self, group: Group) -> str:
        label = f"{group.label} " if group.label else ""
        body = _braced(self._message_body(group.message))
        return f"{label}group {group.message.name} = {group.number} {body}"

    def _extend(self, extend: Extend) -> str:
        blocks = ["".join(map(self._field, self._sorted(extend.fields, lambda field: field.number)))]
        blocks.append("".join(map(self._group, extend.groups)))
        return f"extend {extend.name} {_braced(blocks)}"

    def _extends(self, extends: list[Extend]) -> list[Extend]:
        """In normalised text, all extensions of one message are together."""
        if self._symbols is None:
            return extends
        merged: dict[str, Extend] = {}
        for extend in extends:
            one = merged.setdefault(self._full(extend.name), Extend(self._full(extend.name)))
            one.fields += extend.fields
            one.groups += extend.groups
        return list(merged.values())

    def _enum(self, enum: Enum) -> str:
        values = self._sorted(enum.values, lambda value: (value.number, value.name))
        lines = "".join(map(self._reserved, self._ranges(enum.reserved)))
        lines += "".join(self._option_lines(enum.options))
        lines += "".join(
            f"{value.name} = {value.number}{self._bracketed(value.options)};\n" for value in values
        )
        return f"enum {enum.name} {_braced([lines])}"

    def _service(self, service: Service) -> str:
        blocks = ["".join(self._option_lines(service.options)), "".join(map(self._rpc, service.rpcs))]
        return f"service {service.name} {_braced(blocks)}"

    def _rpc(self, rpc: Rpc) -> str:
        request = ("stream " if rpc.request_streams else "") + self._full(rpc.request)
        response = ("stream " if rpc.response_streams else "") + self._full(rpc.response)
        options = "".join(self._option_lines(rpc.options))
        body = f" {{\n{_indented(options)}}}" if options else ""
        return f"rpc {rpc.name} ({request}) returns ({response}){body};\n"

    def _reserved(self, reserved: Reserved) -> str:
        return f"reserved {', '.join(map(self._span, reserved.values))};\n"

    def _ranges(self, reserved: list[Reserved]) -> list[Reserved]:
        if self._symbols is None:
            return reserved
        values = [value for one in reserved for value in one.values]
        values.sort(
            key=lambda value: (MAX_NUMBER, value) if isinstance(value, str) else (value.start, str(value.end))
        )
        return [Reserved([value]) for value in values]

    def _extensions(self, extensions: Extensions) -> str:
        spans = ", ".join(map(self._span, extensions.values))
        return f"extensions {spans}{self._bracketed(extensions.options)};\n"

    def _extension_ranges(self, extensions: list[Extensions]) -> list[Extensions]:
        if self._symbols is None:
            return extensions
        ranges = [Extensions([span], one.options) for one in extensions for span in one.values]
        return sorted(ranges, key=lambda one: one.values[0].start)

    def _span(self, value: Span | str) -> str:
        if isinstance(value, str):
            return f'"{value}"'
        if value.start == value.end:
            return str(value.start)
        return f"{value.start} to {'max' if value.end >= MAX_NUMBER else value.end}"

    def _option_lines(self, options: list[Option]) -> list[str]:
        return [f"option {self._option(option)};\n" for option in self._options(options)]

    def _bracketed(self, options: list[Option]) -> str:
        shown = [self._option(option) for option in self._options(options)]
        if not shown:
            return ""
        if len(shown) == 1:
            return f" [{shown[0]}]"
        return " [\n" + _indented(",\n".join(shown) + "\n") + "]"

    def _options(self, options: list[Option]) -> list[Option]:
        return options if self._symbols is None else normalized_options(options, self._symbols, self._scope)

    def _option(self, option: Option) -> str:
        return f"{option.name} = {self._value(option.value)}"

    def _value(self, value: Value) -> str:
        if isinstance(value, Quoted):
            return '"' + "".join(_ESCAPES.get(letter, letter) for letter in value.text) + '"'
        if isinstance(value, Word):
            return value.text if self._symbols is None else number_shown(value.text)
        if isinstance(value, Aggregate):
            lines = ",\n".join(f"{key}: {self._value(member)}" for key, member in value.members)
            return "{\n" + _indented(lines + "\n" if lines else "") + "}"
        assert isinstance(value, Several)
        if self._symbols is not None and len(value.values) == 1:
            return self._value(value.values[0])
        lines = ",\n".join(map(self._value, value.values))
        return "[\n" + _indented(lines + "\n" if lines else "") + "]"

    def _sorted(self, found: list[T], key: Callable[[T], Any]) -> list[T]:
        return found if self._symbols is None else sorted(found, key=key)


def _last(options: list[Option]) -> list[Option]:
    """The default and the JSON name come after the real options."""
    special = [next((o for o in options if o.name == name), None) for name in ("default", "json_name")]
    return [o for o in options if o.name not in ("default", "json_name")] + [o for o in special if o]


def _braced(blocks: list[str]) -> str:
    return "{" + "".join("\n" + _indented(block) for block in blocks if block) + "}\n"


def _indented(text: str) -> str:
    return "".join(f"  {line}\n" for line in text.split("\n")[:-1])
