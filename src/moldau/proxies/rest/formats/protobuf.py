"""Protobuf from and to JSON, by descriptors that the registry sends. Field names stay as the schema has them."""

import contextlib
import importlib
import re
from typing import Any, Final

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.json_format import MessageToDict, ParseDict, ParseError
from google.protobuf.message import DecodeError

from moldau.core.protobuf_paths import FIRST, message_at, read_path, write_path

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
        return write_path(FIRST) + bytes(message.SerializeToString())

    def decode(self, data: bytes) -> Any:
        path, at = read_path(data)
        message = message_factory.GetMessageClass(message_at(self._top, path))()
        try:
            message.ParseFromString(data[at:])
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
