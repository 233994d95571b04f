"""Turns a compiled `FileDescriptorProto` back into a tree, for clients that send no text."""

from collections.abc import Iterable

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    ServiceDescriptorProto,
)
from google.protobuf.message import Message as PbMessage
from google.protobuf.unknown_fields import UnknownFieldSet

from moldau.registry.schemas.protobuf import confluent_meta
from moldau.registry.schemas.protobuf.syntax import (
    Aggregate,
    Enum,
    EnumValue,
    Extend,
    Extensions,
    Field,
    Group,
    Import,
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

_LABELS = {
    FieldDescriptorProto.LABEL_OPTIONAL: "optional",
    FieldDescriptorProto.LABEL_REQUIRED: "required",
    FieldDescriptorProto.LABEL_REPEATED: "repeated",
}


def file_of(file: FileDescriptorProto) -> ProtoFile:
    public, weak = set(file.public_dependency), set(file.weak_dependency)
    is_proto3 = file.syntax == "proto3"
    return ProtoFile(
        syntax=file.syntax if file.syntax in ("proto2", "proto3") else None,
        edition=_edition(file),
        package=file.package or None,
        imports=[
            Import(path, "public" if index in public else "weak" if index in weak else "")
            for index, path in enumerate(file.dependency)
        ],
        options=_options(file.options),
        messages=[_message(message, is_proto3) for message in file.message_type],
        enums=[_enum(enum) for enum in file.enum_type],
        extends=_extends(file.extension, is_proto3),
        services=[_service(service) for service in file.service],
    )


def _edition(file: FileDescriptorProto) -> str | None:
    if file.syntax != "editions":
        return None
    return (
        str(file.edition).rjust(4, "0") if file.edition < 1000 else {1000: "2023"}.get(file.edition, "2024")
    )


def _message(message: DescriptorProto, is_proto3: bool) -> Message:
    found = Message(message.name, options=_options(message.options))
    found.oneofs = [Oneof(oneof.name, options=_options(oneof.options)) for oneof in message.oneof_decl]
    nested = {inner.name: inner for inner in message.nested_type}
    groups: set[str] = set()
    for field in message.field:
        in_oneof = field.HasField("oneof_index") and not field.proto3_optional
        if field.type == FieldDescriptorProto.TYPE_GROUP:
            name = field.type_name.rpartition(".")[2]
            groups.add(name)
            home = found.oneofs[field.oneof_index].groups if in_oneof else found.groups
            home.append(
                Group(
                    None if in_oneof else _LABELS[field.label],
                    field.number,
                    _message(nested[name], is_proto3),
                )
            )
        elif in_oneof:
            found.oneofs[field.oneof_index].fields.append(_field(field, is_proto3, in_oneof=True))
        else:
            found.fields.append(_field(field, is_proto3, nested=nested))
    found.oneofs = [oneof for oneof in found.oneofs if oneof.fields or oneof.groups]
    maps = {field.type_name.rpartition(".")[2] for field in message.field if _is_map(field, nested)}
    found.messages = [
        _message(inner, is_proto3) for inner in message.nested_type if inner.name not in groups | maps
    ]
    found.enums = [_enum(enum) for enum in message.enum_type]
    found.reserved = [Reserved([Span(span.start, span.end - 1)]) for span in message.reserved_range]
    found.reserved += [Reserved([name]) for name in message.reserved_name]
    found.extensions = [
        Extensions([Span(span.start, span.end - 1)], _options(span.options))
        for span in message.extension_range
    ]
    found.extends = _extends(message.extension, is_proto3)
    return found


def _is_map(field: FieldDescriptorProto, nested: dict[str, DescriptorProto]) -> bool:
    inner = nested.get(field.type_name.rpartition(".")[2])
    return inner is not None and inner.options.map_entry and len(inner.field) == 2


def _field(
    field: FieldDescriptorProto,
    is_proto3: bool,
    *,
    in_oneof: bool = False,
    nested: dict[str, DescriptorProto] | None = None,
) -> Field:
    options = _options(field.options)
    if field.HasField("default_value"):
        is_text = field.type in (FieldDescriptorProto.TYPE_STRING, FieldDescriptorProto.TYPE_BYTES)
        value = field.default_value
        options.append(Option("default", Quoted(value) if is_text else Word(value)))
    if field.HasField("json_name") and field.json_name != json_name(field.name):
        options.append(Option("json_name", Quoted(field.json_name)))
    if nested and _is_map(field, nested):
        key, value_field = nested[field.type_name.rpartition(".")[2]].field
        return Field(None, _type(value_field), field.name, field.number, options, _type(key))
    label: str | None = _LABELS[field.label]
    if in_oneof or (is_proto3 and label == "optional" and not field.proto3_optional):
        label = None
    return Field(label, _type(field), field.name, field.number, options)


def _type(field: FieldDescriptorProto) -> str:
    return str(field.type_name or FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower())


def json_name(name: str) -> str:
    """The JSON name of a field that does not set one."""
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def _extends(extensions: Iterable[FieldDescriptorProto], is_proto3: bool) -> list[Extend]:
    found: dict[str, Extend] = {}
    for field in extensions:
        extend = found.setdefault(field.extendee, Extend(field.extendee))
        extend.fields.append(_field(field, is_proto3))
    return list(found.values())


def _enum(enum: EnumDescriptorProto) -> Enum:
    reserved = [Reserved([Span(span.start, span.end)]) for span in enum.reserved_range]
    reserved += [Reserved([name]) for name in enum.reserved_name]
    values = [EnumValue(value.name, value.number, _options(value.options)) for value in enum.value]
    return Enum(enum.name, values, reserved, _options(enum.options))


def _service(service: ServiceDescriptorProto) -> Service:
    rpcs = [
        Rpc(
            method.name,
            method.input_type,
            method.output_type,
            method.client_streaming,
            method.server_streaming,
            _options(method.options),
        )
        for method in service.method
    ]
    return Service(service.name, rpcs, _options(service.options))


def _options(options: PbMessage) -> list[Option]:
    """The options that are set. Known extensions keep the names of their descriptors; unknown ones are left out."""
    found: list[Option] = []
    for descriptor, value in options.ListFields():
        if descriptor.is_extension and descriptor.number == confluent_meta.NUMBER:
            found.append(_meta(options, value.SerializeToString()))
            continue
        name = f"({descriptor.full_name})" if descriptor.is_extension else descriptor.name
        values = value if descriptor.is_repeated else [value]
        found += [Option(name, _value(descriptor, one)) for one in values]
    for field in UnknownFieldSet(options):
        if field.field_number == confluent_meta.NUMBER and isinstance(field.data, bytes):
            found.append(_meta(options, field.data))
    return found


def _meta(options: PbMessage, payload: bytes) -> Option:
    """`FieldOptions` hold `(confluent.field_meta)`, and so on."""
    kind = options.DESCRIPTOR.name.removesuffix("Options")
    name = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in kind).lstrip("_")
    return Option(f"(confluent.{name}_meta)", confluent_meta.decode(payload))


def _value(descriptor: object, value: object) -> Value:
    if isinstance(value, PbMessage):
        members: list[tuple[str, Value]] = []
        for inner, content in value.ListFields():
            if inner.is_repeated:
                items = (
                    _entries(content) if isinstance(content, dict) or hasattr(content, "items") else content
                )
                members.append((inner.name, Several(tuple(_value(inner, one) for one in items))))
            else:
                members.append((inner.name, _value(inner, content)))
        return Aggregate(tuple(members))
    if isinstance(value, Aggregate):
        return value
    if isinstance(value, bool):
        return Word("true" if value else "false")
    if isinstance(value, str):
        return Quoted(value)
    if isinstance(value, bytes):
        return Quoted(value.decode("latin-1"))
    enum = getattr(descriptor, "enum_type", None)
    if enum is not None and isinstance(value, int) and value in enum.values_by_number:
        return Word(enum.values_by_number[value].name)
    return Word(str(value))


def _entries(content: object) -> list[Aggregate]:
    assert hasattr(content, "items")
    return [
        Aggregate((("key", _value(None, key)), ("value", _value(None, value))))
        for key, value in sorted(content.items())
    ]
