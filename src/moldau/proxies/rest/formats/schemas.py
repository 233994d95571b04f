"""Schemas by what a request says of them, and the codecs made of them. Asks the registry, and remembers its answers.

All methods block while the registry is asked; callers in the event loop look into `known_writer` first.
"""

import base64
import binascii
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.message import DecodeError

from moldau.proxies.rest.failures import (
    AUTHORIZATION,
    RestFailure,
    conversion_failed,
    invalid_schema,
    registry_failed,
)

SCHEMA_TYPES: Final = {"avro": "AVRO", "jsonschema": "JSON", "protobuf": "PROTOBUF"}
FORMAT_NAMES: Final = {schema_type: name for name, schema_type in SCHEMA_TYPES.items()}
REMEMBERED_MAX: Final = 1_000
FRAME_SIZE: Final = 5
IMPORTS_MAX: Final = 200
FORBIDDEN: Final = 403
NOT_PARSED: Final = frozenset({422})


@dataclass(frozen=True)
class Asked:
    """What a request says of a schema. One of text, id, version; without any of them the latest version counts."""

    subject: str
    format: str | None = None
    text: str | None = None
    id: int | None = None
    version: int | None = None


@dataclass(frozen=True)
class Writer:
    """Turns JSON into the bytes of records of one schema."""

    format: str
    schema_id: int
    subject: str | None
    version: int | None
    _encode: Callable[[Any], bytes]

    def encode(self, value: Any, where: str) -> bytes:
        """Raises RestFailure 42203."""
        try:
            data = self._encode(value)
        except (ValueError, TypeError, OverflowError, RecursionError, AttributeError, KeyError) as error:
            raise conversion_failed(f"{where}{error}.") from None
        return b"\x00" + self.schema_id.to_bytes(4, "big") + data


@dataclass(frozen=True)
class _Found:
    """A schema of the registry."""

    id: int
    schema_type: str
    text: str
    references: tuple[Any, ...]
    subject: str | None = None
    version: int | None = None


class Schemas:
    """The client of the registry, and what it has answered."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self._properties = dict(properties)
        self._made: Any = None
        self._lock = threading.Lock()
        self._writers: OrderedDict[Asked, Writer] = OrderedDict()
        self._readers: OrderedDict[tuple[str, int], Callable[[bytes], Any]] = OrderedDict()

    def close(self) -> None:
        if self._made is not None:
            self._made.close()

    def known_writer(self, asked: Asked) -> Writer | None:
        return self._writers.get(asked)

    def writer(self, asked: Asked) -> Writer:
        """Registers a schema given as text. Raises RestFailure 42205 for one that is invalid, 40801 if the registry
        does not answer."""
        found = self._find(asked)
        name = FORMAT_NAMES[found.schema_type]
        if asked.format not in (None, name):
            raise invalid_schema(
                f"schema {found.id} is {name}, and the request is for {asked.format}. Send the content type of {name}."
            )
        encode, _ = self._codec(found)
        writer = Writer(name, found.id, found.subject, found.version, encode)
        if asked.text is not None or asked.id is not None or asked.version is not None:
            self._remember(self._writers, asked, writer)
        return writer

    def decode(self, name: str, data: bytes | None, where: str) -> Any:
        """The JSON of a key or a value. Raises RestFailure 42203 if it is not of that format."""
        if data is None:
            return None
        if len(data) < FRAME_SIZE or data[0] != 0:
            raise conversion_failed(
                f"{where} has no frame of a schema registry. Read it with format binary, or step over it with POST "
                ".../positions."
            )
        schema_id = int.from_bytes(data[1:FRAME_SIZE], "big")
        decode = self._readers.get((name, schema_id))
        if decode is None:
            found = self._by_id(schema_id)
            if found.schema_type != SCHEMA_TYPES[name]:
                raise conversion_failed(
                    f"{where} has schema {schema_id}, which is {FORMAT_NAMES[found.schema_type]}. Read it with that "
                    "format."
                )
            _, decode = self._codec(found)
            self._remember(self._readers, (name, schema_id), decode)
        try:
            return decode(data[FRAME_SIZE:])
        except (ValueError, TypeError, KeyError, IndexError, EOFError, RecursionError) as error:
            raise conversion_failed(f"{where} does not match its schema {schema_id}: {error}.") from None

    def _find(self, asked: Asked) -> _Found:
        from confluent_kafka.schema_registry import Schema

        if asked.text is not None:
            given = Schema(asked.text, SCHEMA_TYPES[asked.format or "avro"])
            stored = self._ask(lambda client: client.register_schema_full_response(asked.subject, given))
            # Confluent's answers a registration with the id alone.
            full = self._ask(lambda client: client.lookup_schema(asked.subject, given))
            return _found(stored.schema_id, full.schema or given, asked.subject, full.version)
        if asked.id is not None:
            return self._by_id(asked.id)
        stored = self._ask(lambda client: client.get_version(asked.subject, asked.version or "latest"))
        return _found(stored.schema_id, stored.schema, asked.subject, stored.version)

    def _by_id(self, schema_id: int) -> _Found:
        return _found(schema_id, self._ask(lambda client: client.get_schema(schema_id)))

    def _codec(self, found: _Found) -> tuple[Callable[[Any], bytes], Callable[[bytes], Any]]:
        """How to write and how to read."""
        try:
            if found.schema_type == "AVRO":
                from moldau.proxies.rest.formats.avro import AvroCodec

                named = [orjson.loads(text) for text in self._referenced(found)]
                avro = AvroCodec(_avro(found.text), named)
                return avro.encode, avro.decode
            if found.schema_type == "PROTOBUF":
                from moldau.proxies.rest.formats.protobuf import ProtobufCodec

                protobuf = ProtobufCodec(self._descriptors(found))
                return protobuf.encode, protobuf.decode
            return _json_schema_writer(found.text), _json_reader
        except _unusable() as error:
            raise invalid_schema(
                f"schema {found.id} cannot be used: {type(error).__name__} {error}"
            ) from None

    def _referenced(self, found: _Found) -> list[str]:
        """The texts of the schemas it refers to, each after those that it needs itself."""
        texts: dict[tuple[str, int], str] = {}
        self._visit(found.references, texts, set())
        return list(texts.values())

    def _visit(
        self, references: tuple[Any, ...], texts: dict[tuple[str, int], str], seen: set[tuple[str, int]]
    ) -> None:
        for reference in references:
            key = (reference.subject, reference.version)
            if key in seen or len(seen) > IMPORTS_MAX:
                continue
            seen.add(key)
            subject, version = key
            stored = self._version(subject, version)
            self._visit(tuple(stored.schema.references or ()), texts, seen)
            texts[key] = stored.schema.schema_str

    def _version(self, subject: str, version: int, fmt: str | None = None) -> Any:
        return self._ask(lambda client: client.get_version(subject, version, fmt=fmt))

    def _descriptors(self, found: _Found) -> list[FileDescriptorProto]:
        """Of a Protobuf schema: the files it imports, each after those that it needs itself, and it last."""
        files: dict[str, FileDescriptorProto] = {}

        def visit(references: tuple[Any, ...]) -> None:
            for reference in references:
                if reference.name in files or len(files) > IMPORTS_MAX:
                    continue
                stored = self._version(reference.subject, reference.version, "serialized")
                visit(tuple(stored.schema.references or ()))
                files[reference.name] = _descriptor(stored.schema.schema_str, reference.name)

        visit(found.references)
        own = self._ask(lambda client: client.get_schema(found.id, fmt="serialized"))
        return [*files.values(), _descriptor(own.schema_str, f"moldau-rest-{found.id}.proto")]

    def _ask(self, question: Callable[[Any], Any]) -> Any:
        """Raises RestFailure."""
        # Imported when first needed: a proxy of plain JSON does without.
        import httpx2
        from confluent_kafka.schema_registry.error import SchemaRegistryError

        try:
            return question(self._client())
        except SchemaRegistryError as error:
            words = f"{error.error_message} (error {error.error_code} of the schema registry)"
            if error.http_status_code == FORBIDDEN:
                raise RestFailure(AUTHORIZATION, f"Not authorized at the schema registry: {words}") from None
            raise (
                invalid_schema(words) if error.http_status_code in NOT_PARSED else registry_failed(words)
            ) from None
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            raise registry_failed(
                f"no schema registry answers at {self._properties['url']}: {error}. Start one with `moldau registry`, "
                "or set schema.registry.url."
            ) from None

    def _client(self) -> Any:
        with self._lock:
            if self._made is None:
                from confluent_kafka.schema_registry import SchemaRegistryClient

                self._made = SchemaRegistryClient({"max.retries": 0, **self._properties})
            return self._made

    def _remember(self, where: "OrderedDict[Any, Any]", key: Any, value: Any) -> None:
        with self._lock:
            where[key] = value
            while len(where) > REMEMBERED_MAX:
                where.popitem(last=False)


def _found(schema_id: int, schema: Any, subject: str | None = None, version: int | None = None) -> _Found:
    return _Found(
        schema_id,
        schema.schema_type or "AVRO",
        schema.schema_str,
        tuple(schema.references or ()),
        subject,
        version,
    )


def _unusable() -> tuple[type[Exception], ...]:
    """What the libraries raise for a schema that the registry has, and that they do not understand."""
    from fastavro.schema import SchemaParseException, UnknownType
    from jsonschema_rs import ReferencingError, ValidationError

    return (
        *(ValueError, TypeError, KeyError, DecodeError, RecursionError),
        *(SchemaParseException, UnknownType, ReferencingError, ValidationError),
    )


def _avro(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text.strip().strip('"')


def _descriptor(text: str, name: str) -> FileDescriptorProto:
    file = FileDescriptorProto()
    try:
        file.ParseFromString(base64.b64decode(text, validate=True))
    except (binascii.Error, DecodeError):
        raise ValueError("the registry does not send descriptors (?format=serialized)") from None
    file.name = name
    return file


def _json_schema_writer(text: str) -> Callable[[Any], bytes]:
    import jsonschema_rs

    validator = jsonschema_rs.validator_for(orjson.loads(text))

    def encode(value: Any) -> bytes:
        for error in validator.iter_errors(value):
            place = "".join(
                f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.instance_path
            )
            raise ValueError(f"{place} does not match the schema: {error.message}")
        return orjson.dumps(value)

    return encode


def _json_reader(data: bytes) -> Any:
    orjson.loads(data)
    return orjson.Fragment(data)
