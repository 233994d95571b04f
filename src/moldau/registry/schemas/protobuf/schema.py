"""The Protobuf schema a registry holds."""

import base64
import binascii
from collections.abc import Mapping
from functools import cached_property

from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError

from moldau.registry.schemas.model import (
    Clash,
    Direction,
    Existing,
    InvalidSchema,
    ParsedSchema,
)
from moldau.registry.schemas.protobuf import builtin, rules
from moldau.registry.schemas.protobuf.differences import Comparison, Side
from moldau.registry.schemas.protobuf.from_descriptor import file_of
from moldau.registry.schemas.protobuf.linking import Linker
from moldau.registry.schemas.protobuf.parser import Parser
from moldau.registry.schemas.protobuf.symbols import Symbols
from moldau.registry.schemas.protobuf.syntax import ProtoFile
from moldau.registry.schemas.protobuf.text import Writer
from moldau.registry.schemas.protobuf.words import clash

OWN_PATH = "default.proto"
"""A schema has no file name; Confluent's serializers use this one."""


class ProtobufSchema(ParsedSchema):
    schema_type = "PROTOBUF"

    def __init__(self, text: str, references: Mapping[str, ParsedSchema]) -> None:
        self.text = text
        self.references = references
        self.file = _read(text)
        self.imported = _imported(self.file, references)
        self.symbols = Symbols(self.file, self.imported)
        self._linker = Linker(self.imported)

    def check(self, *, fields: bool = False) -> None:
        """Types may come from any reference, imported or not. With `fields`, files must link by their imports."""
        rules.check(self.file, self.symbols)
        if fields:
            self._check_imports()
            self.pool()

    def _check_imports(self) -> None:
        for one in self.file.imports:
            if one.path not in self.imported:
                raise InvalidSchema(
                    f'Not a valid Protobuf schema: it imports "{one.path}", which is not in its references: '
                    "add a reference with this name."
                )
        for path in self._linker.not_imported(self.file, self.symbols):
            raise InvalidSchema(f'Not a valid Protobuf schema: it uses "{path}" without importing it.')

    @cached_property
    def canonical(self) -> str:
        return Writer(self.file).text()

    @property
    def name(self) -> str | None:
        """The name of the first message, which is the default when no message is named."""
        if not self.file.messages:
            return None
        first = self.file.messages[0].name
        return f"{self.file.package}.{first}" if self.file.package else first

    def has_field(self, name: str) -> bool:
        return any(field.name == name for message in self.file.messages for field in message.fields)

    def normalized(self) -> "ProtobufSchema":
        return ProtobufSchema(Writer(self.file, self.symbols).text(), self.references)

    def resolved(self) -> str:
        return self.canonical

    def serialized(self) -> str:
        """The compiled descriptor in base64 (`format=serialized`), for clients without a compiler."""
        return base64.b64encode(self.descriptor().SerializeToString(deterministic=True)).decode()

    def descriptor(self, path: str = OWN_PATH) -> FileDescriptorProto:
        return self._linker.descriptor(self.file, path, self.symbols)

    def pool(self) -> DescriptorPool:
        """The file and everything it uses, linked by Google's library. Raises InvalidSchema with what the library
        rejected."""
        return self._linker.pool(self.descriptor())

    def clashes(self, other: Existing, direction: Direction) -> list[Clash]:
        assert isinstance(other.schema, ProtobufSchema)
        old, new = Side(other.schema.file, other.schema.symbols), Side(self.file, self.symbols)
        original, update = (old, new) if direction is Direction.BACKWARD else (new, old)
        found = Comparison(original, update).differences()
        return list(dict.fromkeys(clash(difference, direction, other.version) for difference in found))


def _read(text: str) -> ProtoFile:
    """Parses a text, or a compiled descriptor in base64, which some clients send instead."""
    try:
        return Parser(text).file()
    except InvalidSchema:
        compiled = _compiled(text)
        if compiled is None:
            raise
        return file_of(compiled)


def _compiled(text: str) -> FileDescriptorProto | None:
    try:
        found = FileDescriptorProto()
        found.ParseFromString(base64.b64decode(text.strip(), validate=True))
    except (binascii.Error, ValueError, DecodeError):
        return None
    # Almost any bytes parse as a message of unknown fields; a real file has a known field.
    return found if found.ByteSize() and found.ListFields() else None


def _imported(file: ProtoFile, references: Mapping[str, ParsedSchema]) -> dict[str, ProtoFile]:
    """All available files, by path. A reference brings the files it imports."""
    found: dict[str, ProtoFile] = {}
    for path, schema in references.items():
        if not isinstance(schema, ProtobufSchema):
            raise InvalidSchema(
                f"The reference {path} is a schema of type {schema.schema_type}; "
                "a Protobuf schema can refer to Protobuf schemas only."
            )
        found |= schema.imported
        found[path] = schema.file
    waiting = [one.path for one in file.imports]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        if path not in builtin.PATHS:
            continue  # The types may be in a reference with another name.
        found[path] = builtin.builtin(path)
        waiting += [one.path for one in found[path].imports]
    return found
