"""Protobuf from and to JSON, by descriptors that the registry sends. Field names stay as the schema has them."""

import contextlib
import importlib
import re
from typing import Any, Final

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.json_format import MessageToDict, ParseDict, ParseError
from google.protobuf.message import DecodeError

OF_GOOGLE: Final = re.compile(r"google/[a-z_]+(/[a-z_]+)*\.proto")


class ProtobufCodec:
    """The messages of one schema. `files` are its imports, each after those it needs, and the schema itself last.

    Writes the first message of the schema; reads the one whose path stands before the bytes. Raises ValueError.
    """

    def __init__(self, files: list[FileDescriptorProto]) -> None:
        self._pool = descriptor_pool.DescriptorPool()
        known = descriptor_pool.Default()
        for file in files:
            self._add_imports(file, known)
            self._pool.Add(file)
        self._top = [
            self._pool.FindMessageTypeByName(f"{files[-1].package}.{message.name}".lstrip("."))
            for message in files[-1].message_type
        ]
        if not self._top:
            raise ValueError("the schema has no message")

    def encode(self, value: Any) -> bytes:
        message = message_factory.GetMessageClass(self._top[0])()
        if not isinstance(value, dict):
            raise ValueError(f" is no object for message {self._top[0].full_name}")
        try:
            ParseDict(value, message, descriptor_pool=self._pool)
        except (ParseError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f" does not match message {self._top[0].full_name}: {error}") from None
        return b"\x00" + bytes(message.SerializeToString())

    def decode(self, data: bytes) -> Any:
        indexes, rest = read_indexes(data)
        descriptor, here = None, self._top
        for index in indexes:
            if not 0 <= index < len(here):
                raise ValueError(f"its frame names message {indexes}, which the schema does not have")
            descriptor = here[index]
            here = descriptor.nested_types
        message = message_factory.GetMessageClass(descriptor)()
        try:
            message.ParseFromString(rest)
        except DecodeError as error:
            raise ValueError(f"it is not a message {message.DESCRIPTOR.full_name}: {error}") from None
        return MessageToDict(
            message,
            preserving_proto_field_name=True,
            always_print_fields_with_no_presence=True,
            descriptor_pool=self._pool,
        )

    def _add_imports(self, file: FileDescriptorProto, known: Any) -> None:
        """Of Google's own files, which every program has."""
        for name in file.dependency:
            if not name.startswith("google/") or self._has(name):
                continue
            imported = FileDescriptorProto()
            if OF_GOOGLE.fullmatch(name):
                with contextlib.suppress(ImportError):
                    importlib.import_module(name.removesuffix(".proto").replace("/", ".") + "_pb2")
            try:
                known.FindFileByName(name).CopyToProto(imported)
            except KeyError:
                raise ValueError(f"the schema imports {name}, which the proxy does not have") from None
            self._add_imports(imported, known)
            self._pool.Add(imported)

    def _has(self, name: str) -> bool:
        try:
            self._pool.FindFileByName(name)
        except KeyError:
            return False
        return True


def read_indexes(data: bytes) -> tuple[list[int], bytes]:
    """The path of a message in its file, and the rest. A single zero byte is the first message."""
    count, at = _unzigzag(data, 0)
    if count == 0:
        return [0], data[at:]
    if not 0 < count <= 64:
        raise ValueError(f"its frame names a message {count} levels deep")
    found = []
    for _ in range(count):
        number, at = _unzigzag(data, at)
        found.append(number)
    return found, data[at:]


def _unzigzag(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 35:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value >> 1 ^ -(value & 1), at
    raise ValueError("its frame ends before the message does")
