"""Classes of the messages of a schema from the registry, each schema in a pool of its own."""

import base64
import binascii
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any, Final

from moldau.pipeline.sql.formats.subject_schema import SubjectSchema

SCHEMAS_MAX: Final = 500
DECIMAL_PATH: Final = "confluent/type/decimal.proto"
META_PATH: Final = "confluent/meta.proto"
_PATH: Final = "default.proto"
_DECIMAL_ALIAS: Final = "confluent/types/decimal.proto"
_CONFLUENT: Final = "confluent_kafka.schema_registry.confluent"


class Messages:
    """The messages of one schema, by their place in it."""

    def __init__(self, schema: SubjectSchema) -> None:
        from google.protobuf.descriptor_pool import DescriptorPool

        self._imports = dict(schema.references)
        self._pool = DescriptorPool()
        self._added: set[str] = set()
        own = _file(schema.text)
        own.name = _PATH
        try:
            self._add(own)
            self._top = list(self._pool.FindFileByName(_PATH).message_types_by_name.values())
        except (TypeError, KeyError) as wrong:
            raise ValueError(f"the Protobuf schema is not complete: {wrong}") from None
        if not self._top:
            raise ValueError("the Protobuf schema has no message")

    def named(self, full_name: str | None) -> Any:
        """The descriptor of a message; the first one without a name."""
        if full_name is None:
            return self._top[0]
        found = next((one for one in self._all(self._top) if full_name in (one.full_name, one.name)), None)
        if found is None:
            names = ", ".join(one.full_name for one in self._all(self._top))
            raise ValueError(f"the Protobuf schema has no message {full_name}; it has {names}")
        return found

    def at(self, indexes: Sequence[int]) -> Any:
        """The descriptor of the message at a path: its index in the file, then in each message around it."""
        here, found = self._top, None
        for index in indexes:
            if not 0 <= index < len(here):
                raise ValueError(
                    f"the record names the message {list(indexes)}, which its schema does not have"
                )
            found = here[index]
            here = list(found.nested_types)
        return found

    def indexes_of(self, message: Any) -> list[int]:
        path: list[int] = []
        while message is not None:
            parent = message.containing_type
            siblings = self._top if parent is None else list(parent.nested_types)
            path.insert(0, [one.full_name for one in siblings].index(message.full_name))
            message = parent
        return path

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


@lru_cache(SCHEMAS_MAX)
def messages_of(schema: SubjectSchema) -> Messages:
    """ValueError where the text is no descriptor."""
    return Messages(schema)


def message_class(descriptor: Any) -> Any:
    from google.protobuf.message_factory import GetMessageClass

    return GetMessageClass(descriptor)


def _file(text: str) -> Any:
    from google.protobuf.descriptor_pb2 import FileDescriptorProto
    from google.protobuf.message import DecodeError

    try:
        return FileDescriptorProto.FromString(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError, DecodeError):
        raise ValueError(f"it is no serialized Protobuf descriptor: {text[:60]!r}") from None


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
        found = _file_of_google(path)
    else:
        raise ValueError(f"the Protobuf schema imports {path}, and the registry has no reference to it")
    return FileDescriptorProto.FromString(found.serialized_pb)


def _file_of_google(path: str) -> Any:
    try:
        return import_module(path.removesuffix(".proto").replace("/", ".") + "_pb2").DESCRIPTOR
    except ImportError:
        raise ValueError(f"the Protobuf schema imports {path}, which does not exist") from None


def meta_extension() -> Any:
    """The option of a field that holds a decimal's precision and scale."""
    return import_module(f"{_CONFLUENT}.meta_pb2").field_meta
