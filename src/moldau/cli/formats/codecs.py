"""One codec per registry format: JSON text to framed bytes and back.

Avro and JSON Schema use confluent-kafka's serializers and their framing. Its Protobuf serializer needs a compiled
class, and we have only the schema's text, so Protobuf has a codec of our own.
"""

import warnings
from collections.abc import Callable
from typing import Any

import orjson
from confluent_kafka.serialization import MessageField, SerializationContext, SerializationError

from moldau.cli.failures import Failure
from moldau.cli.formats.lookalike import looks_like
from moldau.cli.formats.plain import Undecodable
from moldau.cli.formats.registered import Registered, Schemas
from moldau.core.protobuf_paths import read_path, write_path

Headers = list[tuple[str, Any]]
Encode = Callable[[bytes], bytes]
Decode = Callable[[bytes, Headers], bytes]


def encoder(schemas: Schemas, schema: Registered, topic: str, field: str, message: str | None) -> Encode:
    """Encodes JSON text, or any text if the schema is a string. Raises ValueError if it does not match the schema."""
    schema_type = schema.parsed.schema_type
    if schema_type == "PROTOBUF":
        return _protobuf_encoder(schema, message)
    context = SerializationContext(topic, MessageField(field))
    serializer = (_avro_serializer if schema_type == "AVRO" else _json_serializer)(schemas, schema)
    prepare = _avro_datum(schema) if schema_type == "AVRO" else (lambda value: value)

    def encode(data: bytes) -> bytes:
        value = prepare(_json(data, schema))
        try:
            return bytes(serializer(value, context) or b"")
        except (SerializationError, ValueError, TypeError, AttributeError) as error:
            raise ValueError(f"it does not match the schema: {_short(error)}") from error

    return encode


def _json(data: bytes, schema: Registered) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        if schema.text.strip() in ('"string"', '{"type":"string"}'):
            return data.decode()
        raise ValueError(f"it is not valid JSON: {error}") from error


def _avro_datum(schema: Registered) -> Callable[[Any], Any]:
    from moldau.cli.formats.avro_json import to_datum
    from moldau.registry.schemas.avro.schema import AvroSchema

    assert isinstance(schema.parsed, AvroSchema)
    root = schema.parsed.root
    return lambda value: to_datum(root, value)


def _settings(schema: Registered) -> dict[str, Any]:
    return {"auto.register.schemas": False, "subject.name.strategy": lambda _context, _name: schema.subject}


def _avro_serializer(schemas: Schemas, schema: Registered) -> Callable[..., bytes | None]:
    from confluent_kafka.schema_registry.avro import AvroSerializer

    made: Callable[..., bytes | None] = AvroSerializer(
        _client(schemas), _schema(schema), conf=_settings(schema)
    )
    return made


def _json_serializer(schemas: Schemas, schema: Registered) -> Callable[..., bytes | None]:
    from confluent_kafka.schema_registry.json_schema import JSONSerializer

    made: Callable[..., bytes | None] = JSONSerializer(
        _schema(schema), _client(schemas), conf=_settings(schema)
    )
    return made


def _schema(schema: Registered) -> Any:
    from confluent_kafka.schema_registry import Schema, SchemaReference

    references = [SchemaReference(name, subject, version) for name, subject, version in schema.references]
    text = schema.text.strip()
    if text.startswith('"'):
        # The serializers accept a primitive type only as an object, which is the same schema.
        text = f'{{"type":{text}}}'
    return Schema(text, schema.parsed.schema_type, references)


def _client(schemas: Schemas) -> Any:
    from confluent_kafka.schema_registry import SchemaRegistryClient

    return SchemaRegistryClient({"url": schemas.url})


def _protobuf_encoder(schema: Registered, message: str | None) -> Encode:
    from moldau.cli.formats.protobuf_messages import Messages
    from moldau.registry.schemas.protobuf.schema import ProtobufSchema

    assert isinstance(schema.parsed, ProtobufSchema)
    messages = Messages(schema.parsed)
    indexes = messages.indexes(message)
    frame = b"\x00" + schema.id.to_bytes(4, "big") + write_path(indexes)
    return lambda data: frame + messages.encode(data.decode(), indexes)


def decoder(schemas: Schemas, kind: str, topic: str, field: str, reader: Registered | None) -> Decode:
    """Decodes to JSON text. Raises Undecodable with a guess what the bytes are."""
    decode = (
        _protobuf_decoder(schemas)
        if kind == "protobuf"
        else _confluent_decoder(schemas, kind, topic, field, reader)
    )

    def checked(data: bytes, headers: Headers) -> bytes:
        framed = data[:1] in (b"\x00", b"\x01") and len(data) > 5
        if not framed and not any(name.startswith("__") and "schema_id" in name for name, _ in headers):
            raise Undecodable(f"has no {kind} frame of a schema registry; it looks like {looks_like(data)}")
        try:
            return decode(data, headers)
        except Failure as error:
            raise Undecodable(f"cannot be read: {error.message}") from error
        except (SerializationError, ValueError, TypeError, KeyError, EOFError, IndexError) as error:
            raise Undecodable(
                f"looks like {looks_like(data)}, but is not {kind} of that schema: {_short(error)}"
            ) from error

    return checked


def _confluent_decoder(
    schemas: Schemas, kind: str, topic: str, field: str, reader: Registered | None
) -> Decode:
    from moldau.cli.formats.avro_json import to_json

    deserializer: Callable[..., Any]
    if kind == "avro":
        from confluent_kafka.schema_registry.avro import AvroDeserializer

        deserializer = AvroDeserializer(_client(schemas), _schema(reader) if reader else None)
    else:
        from confluent_kafka.schema_registry.json_schema import JSONDeserializer

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            deserializer = JSONDeserializer(
                _schema(reader) if reader else None, schema_registry_client=_client(schemas)
            )
    seen: set[int] = set()

    def decode(data: bytes, headers: Headers) -> bytes:
        schema_id = int.from_bytes(data[1:5], "big") if data[:1] == b"\x00" else None
        if schema_id is not None and schema_id not in seen:
            # Checked here first, for a better error message about the id.
            schemas.checked(schemas.by_id(schema_id), kind)
            seen.add(schema_id)
        value = deserializer(data, SerializationContext(topic, MessageField(field), headers))
        return orjson.dumps(to_json(value))

    return decode


def _protobuf_decoder(schemas: Schemas) -> Decode:
    from moldau.cli.formats.protobuf_messages import Messages
    from moldau.registry.schemas.protobuf.schema import ProtobufSchema

    known: dict[int, Messages] = {}

    def decode(data: bytes, _headers: Headers) -> bytes:
        schema_id = int.from_bytes(data[1:5], "big")
        if schema_id not in known:
            parsed = schemas.by_id(schema_id).parsed
            if not isinstance(parsed, ProtobufSchema):
                raise ValueError(f"schema {schema_id} is of type {parsed.schema_type}")
            known[schema_id] = Messages(parsed)
        path, at = read_path(data, 5)
        return known[schema_id].decode(data[at:], path).encode()

    return decode


def _short(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 300 else text[:297] + "..."
