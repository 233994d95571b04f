"""The messages of a schema from the registry, each schema in a pool of its own; and which of them a record is. Pure."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Final

from moldau.pipeline.connect.data.errors import DataError

DECIMAL_PATH: Final = "confluent/type/decimal.proto"
META_PATH: Final = "confluent/meta.proto"
_PATH: Final = "default.proto"
_DECIMAL_ALIAS: Final = "confluent/types/decimal.proto"
_CONFLUENT: Final = "confluent_kafka.schema_registry.confluent"
_FIRST: Final = b"\0"


class Messages:
    """The messages of one schema, by their place in it."""

    def __init__(self, text: str, references: Mapping[str, str]) -> None:
        """Texts are descriptors in Base64, as the registry gives them with `format=serialized`."""
        from google.protobuf.descriptor_pool import DescriptorPool

        self._imports = references
        self._pool = DescriptorPool()
        self._added: set[str] = set()
        own = _file(text)
        own.name = _PATH
        try:
            self._add(own)
            self._top = list(self._pool.FindFileByName(_PATH).message_types_by_name.values())
        except (TypeError, KeyError) as wrong:
            raise DataError(f"the Protobuf schema is not complete: {wrong}") from None
        if not self._top:
            raise DataError("the Protobuf schema has no message")

    def named(self, name: str) -> Any:
        """The descriptor of a message; the first one where none has the name."""
        return next((one for one in self._all(self._top) if name in (one.full_name, one.name)), self._top[0])

    def at(self, indexes: Sequence[int]) -> Any:
        """The descriptor of the message at a path: its index in the file, then in each message around it."""
        here, found = self._top, None
        for index in indexes:
            if not 0 <= index < len(here):
                raise DataError(
                    f"the record names the message {list(indexes)}, which its schema does not have"
                )
            found = here[index]
            here = list(found.nested_types)
        return found

    def path_of(self, message: Any) -> bytes:
        """What stands between the schema's id and the message in a record."""
        path: list[int] = []
        while message is not None:
            parent = message.containing_type
            siblings = self._top if parent is None else list(parent.nested_types)
            path.insert(0, [one.full_name for one in siblings].index(message.full_name))
            message = parent
        if path == [0]:
            return _FIRST
        return b"".join(_varint(number << 1) for number in (len(path), *path))

    def _all(self, messages: Sequence[Any]) -> list[Any]:
        return [one for top in messages for one in (top, *self._all(list(top.nested_types)))]

    def _add(self, file: Any) -> None:
        """After the files that it imports."""
        self._added.add(file.name)
        for path in file.dependency:
            if path not in self._added:
                imported = _file(self._imports[path]) if path in self._imports else _known_file(path)
                imported.name = path
                self._add(imported)
        self._pool.Add(file)


def message_class(descriptor: Any) -> Any:
    from google.protobuf.message_factory import GetMessageClass

    return GetMessageClass(descriptor)


def read_path(data: bytes) -> tuple[tuple[int, ...], int]:
    """Which message a record is, and where it begins."""
    if data[:1] == _FIRST:
        return (0,), 1
    count, at = _read_varint(data, 0)
    found = []
    for _ in range(count):
        number, at = _read_varint(data, at)
        found.append(number)
    return tuple(found), at


def meta_extension() -> Any:
    """The option of a field that holds what only Connect has."""
    return import_module(f"{_CONFLUENT}.meta_pb2").field_meta


def _file(text: str) -> Any:
    from google.protobuf.descriptor_pb2 import FileDescriptorProto
    from google.protobuf.message import DecodeError

    try:
        return FileDescriptorProto.FromString(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError, DecodeError):
        raise DataError(
            f"the registry gave no serialized Protobuf descriptor, but {text[:60]!r}: it must know format=serialized"
        ) from None


def _known_file(path: str) -> Any:
    """Google's and Confluent's files may be imported without a reference."""
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    if path == _DECIMAL_ALIAS:
        return FileDescriptorProto(syntax="proto3", dependency=[DECIMAL_PATH], public_dependency=[0])
    if path == DECIMAL_PATH:
        found: Any = import_module(f"{_CONFLUENT}.types.decimal_pb2").Decimal.DESCRIPTOR.file
    elif path == META_PATH:
        found = import_module(f"{_CONFLUENT}.meta_pb2").DESCRIPTOR
    elif path.startswith(("google/protobuf/", "google/type/")):
        try:
            found = import_module(path.removesuffix(".proto").replace("/", ".") + "_pb2").DESCRIPTOR
        except ImportError:
            raise DataError(f"the Protobuf schema imports {path}, which does not exist") from None
    else:
        raise DataError(f"the Protobuf schema imports {path}, and the registry has no reference to it")
    return FileDescriptorProto.FromString(found.serialized_pb)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Zigzag."""
    value = shift = 0
    while at < len(data) and shift < 35:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value >> 1 ^ -(value & 1), at
    raise DataError("the record ends before its message begins")
