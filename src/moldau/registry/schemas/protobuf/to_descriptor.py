"""Turns the tree into a `FileDescriptorProto`, which Google's library checks and builds message classes from."""

from typing import Any

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)

from moldau.registry.schemas.protobuf.descriptor_options import set_options
from moldau.registry.schemas.protobuf.from_descriptor import json_name
from moldau.registry.schemas.protobuf.options import number_shown
from moldau.registry.schemas.protobuf.symbols import Symbol, Symbols
from moldau.registry.schemas.protobuf.syntax import (
    SCALARS,
    Enum,
    Extend,
    Field,
    Group,
    Message,
    Option,
    ProtoFile,
    Quoted,
    Span,
    Word,
)

_LABELS = {
    None: FieldDescriptorProto.LABEL_OPTIONAL,
    "optional": FieldDescriptorProto.LABEL_OPTIONAL,
    "required": FieldDescriptorProto.LABEL_REQUIRED,
    "repeated": FieldDescriptorProto.LABEL_REPEATED,
}
_EDITIONS = {"2023": 1000, "2024": 1001}


class DescriptorWriter:
    def __init__(self, file: ProtoFile, symbols: Symbols) -> None:
        self._file = file
        self._symbols = symbols
        self.used: dict[str, None] = {}
        """The paths of the other files whose types the output names."""

    def file(self, path: str) -> FileDescriptorProto:
        file, found = self._file, FileDescriptorProto(name=path)
        if file.edition:
            found.syntax, found.edition = "editions", _EDITIONS[file.edition]
        elif file.is_proto3:
            found.syntax = "proto3"
        if file.package:
            found.package = file.package
        for index, one in enumerate(file.imports):
            found.dependency.append(one.path)
            if one.kind in ("public", "weak"):
                (found.public_dependency if one.kind == "public" else found.weak_dependency).append(index)
        self._options(file.options, found, [])
        for message in file.messages:
            self._message(message, found.message_type.add(), [message.name])
        for enum in file.enums:
            self._enum(enum, found.enum_type.add(), [])
        for extend in file.extends:
            self._extend(extend, found.extension, [])
        for service in file.services:
            target = found.service.add(name=service.name)
            self._options(service.options, target, [])
            for rpc in service.rpcs:
                method = target.method.add(
                    name=rpc.name,
                    input_type=self._full(rpc.request, []),
                    output_type=self._full(rpc.response, []),
                    client_streaming=rpc.request_streams or None,
                    server_streaming=rpc.response_streams or None,
                )
                self._options(rpc.options, method, [])
        return found

    def _message(self, message: Message, target: DescriptorProto, scope: list[str]) -> None:
        target.name = message.name
        if message.is_map_entry:
            target.options.map_entry = True
        self._options(message.options, target, scope)
        # Before the entries of maps, so that a nested message keeps its position in the text: the wire format counts
        # by it.
        for inner in message.messages:
            self._message(inner, target.nested_type.add(), [*scope, inner.name])
        self._members(message, target, scope)
        for enum in message.enums:
            self._enum(enum, target.enum_type.add(), scope)
        for extend in message.extends:
            self._extend(extend, target.extension, scope)
        for span in (span for extensions in message.extensions for span in extensions.values):
            target.extension_range.add(start=span.start, end=span.end + 1)
        for value in (value for reserved in message.reserved for value in reserved.values):
            if isinstance(value, Span):
                target.reserved_range.add(start=value.start, end=value.end + 1)
            else:
                target.reserved_name.append(value)

    def _members(self, message: Message, target: DescriptorProto, scope: list[str]) -> None:
        """Each proto3 `optional` is a oneof of its own, after the real ones."""
        optionals: list[FieldDescriptorProto] = []
        for field in message.fields:
            made = self._field(field, target, scope)
            if self._file.is_proto3 and field.label == "optional":
                made.proto3_optional = True
                optionals.append(made)
        for index, oneof in enumerate(message.oneofs):
            target.oneof_decl.add(name=oneof.name)
            for field in oneof.fields:
                self._field(field, target, scope).oneof_index = index
            for group in oneof.groups:
                self._group(group, target, scope).oneof_index = index
        for made in optionals:
            made.oneof_index = len(target.oneof_decl)
            target.oneof_decl.add(name=f"_{made.name}")
        for group in message.groups:
            self._group(group, target, scope)

    def _group(self, group: Group, target: DescriptorProto, scope: list[str]) -> FieldDescriptorProto:
        made = target.field.add(
            name=group.message.name.lower(),
            number=group.number,
            label=_LABELS[group.label],
            type=FieldDescriptorProto.TYPE_GROUP,
            type_name=self._full(group.message.name, scope),
        )
        self._message(group.message, target.nested_type.add(), [*scope, group.message.name])
        return made

    def _field(self, field: Field, target: DescriptorProto, scope: list[str]) -> FieldDescriptorProto:
        made = target.field.add()
        if field.key_type is None:
            self._fill(field, made, scope)
            return made
        entry = target.nested_type.add(name=_entry_name(field.name))
        entry.options.map_entry = True
        self._fill(Field(None, field.key_type, "key", 1), entry.field.add(), scope)
        self._fill(Field(None, field.type, "value", 2), entry.field.add(), scope)
        self._fill(Field("repeated", "string", field.name, field.number, field.options), made, scope)
        made.type = FieldDescriptorProto.TYPE_MESSAGE
        package = f".{self._symbols.package}" if self._symbols.package else ""
        made.type_name = f"{package}.{'.'.join(scope)}.{entry.name}"
        return made

    def _fill(self, field: Field, made: FieldDescriptorProto, scope: list[str]) -> None:
        made.name, made.number, made.label = field.name, field.number, _LABELS[field.label]
        if field.type in SCALARS:
            made.type = FieldDescriptorProto.Type.Value(f"TYPE_{field.type.upper()}")
        else:
            found = self._find(field.type, scope)
            is_enum = found is not None and isinstance(found.node, Enum)
            made.type = FieldDescriptorProto.TYPE_ENUM if is_enum else FieldDescriptorProto.TYPE_MESSAGE
            made.type_name = f".{found.full}" if found else field.type
        named = field.option("json_name")
        made.json_name = named.text if isinstance(named, Quoted) else json_name(field.name)
        default = field.option("default")
        if isinstance(default, Quoted | Word):
            made.default_value = default.text if isinstance(default, Quoted) else number_shown(default.text)
        self._options(field.options, made, scope)

    def _extend(self, extend: Extend, target: Any, scope: list[str]) -> None:
        for field in extend.fields:
            made = target.add(extendee=self._full(extend.name, scope))
            self._fill(field, made, scope)
            if self._file.is_proto3 and field.label == "optional":
                made.proto3_optional = True

    def _enum(self, enum: Enum, target: EnumDescriptorProto, scope: list[str]) -> None:
        target.name = enum.name
        self._options(enum.options, target, scope)
        for value in enum.values:
            self._options(value.options, target.value.add(name=value.name, number=value.number), scope)
        for one in (one for reserved in enum.reserved for one in reserved.values):
            if isinstance(one, Span):
                target.reserved_range.add(start=one.start, end=one.end)
            else:
                target.reserved_name.append(one)

    def _options(self, options: list[Option], target: Any, scope: list[str]) -> None:
        if options:
            set_options(options, target.options, self._symbols, scope)

    def _full(self, name: str, scope: list[str]) -> str:
        found = self._find(name, scope)
        return f".{found.full}" if found else name

    def _find(self, name: str, scope: list[str]) -> Symbol | None:
        found = self._symbols.find(name, scope)
        if found is not None and found.path is not None:
            self.used[found.path] = None
        return found


def _entry_name(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_")) + "Entry"
