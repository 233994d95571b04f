"""The same purchase in three formats, with the schema for each and a type it refers to."""

import json
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import Message

FIELD = descriptor_pb2.FieldDescriptorProto
PURCHASE = {"item": "apples", "amount": 2.5}


def avro_schema(name: str, *more: dict[str, Any]) -> str:
    fields = [{"name": "item", "type": "string"}, {"name": "amount", "type": "double"}, *more]
    return json.dumps({"type": "record", "name": name, "fields": fields})


def json_schema(name: str, **more: dict[str, Any]) -> str:
    properties = {"item": {"type": "string"}, "amount": {"type": "number"}, **more}
    return json.dumps(
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "title": name,
            "type": "object",
            "properties": properties,
            "required": ["item"],
        }
    )


def protobuf_class(name: str, *, buyer: str | None = None) -> type[Message]:
    """A message class; with a `buyer` it has a field of that message, from a file of its own."""
    pool = descriptor_pool.DescriptorPool()
    if buyer is not None:
        pool.Add(_file(buyer, [("id", FIELD.TYPE_STRING, None)], []))
    fields: list[tuple[str, int, str | None]] = [
        ("item", FIELD.TYPE_STRING, None),
        ("amount", FIELD.TYPE_DOUBLE, None),
    ]
    if buyer is not None:
        fields.append(("buyer", FIELD.TYPE_MESSAGE, f".shop.{buyer}"))
    pool.Add(_file(name, fields, [f"{buyer}.proto"] if buyer else []))
    found: type[Message] = message_factory.GetMessageClass(pool.FindMessageTypeByName(f"shop.{name}"))
    return found


def _file(
    name: str, fields: list[tuple[str, int, str | None]], imports: list[str]
) -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(
        name=f"{name}.proto", package="shop", syntax="proto3", dependency=imports
    )
    message = file.message_type.add(name=name)
    for number, (field, kind, type_name) in enumerate(fields, start=1):
        message.field.add(
            name=field, number=number, type=kind, type_name=type_name, label=FIELD.LABEL_OPTIONAL
        )
    return file
