"""The files every schema may import without a reference: Google's well-known and common types, and Confluent's."""

from functools import lru_cache
from importlib import import_module

from google.protobuf.descriptor_pb2 import FileDescriptorProto

from moldau.registry.schemas.protobuf.from_descriptor import file_of
from moldau.registry.schemas.protobuf.parser import Parser
from moldau.registry.schemas.protobuf.syntax import ProtoFile

_WELL_KNOWN = (
    *("any", "api", "descriptor", "duration", "empty", "field_mask"),
    *("source_context", "struct", "timestamp", "type", "wrappers"),
)
_COMMON = (
    *("calendar_period", "color", "date", "datetime", "dayofweek", "decimal", "expr", "fraction", "interval"),
    *("latlng", "money", "month", "phone_number", "postal_address", "quaternion", "timeofday"),
)
_MODULES = {f"google/protobuf/{name}.proto": f"google.protobuf.{name}_pb2" for name in _WELL_KNOWN} | {
    f"google/type/{name}.proto": f"google.type.{name}_pb2" for name in _COMMON
}
_TEXTS = {
    "confluent/meta.proto": """
        syntax = "proto3";
        package confluent;
        import "google/protobuf/descriptor.proto";
        message Meta {
          string doc = 1;
          map<string, string> params = 2;
          repeated string tags = 3;
          repeated Rule rules = 4;
        }
        message Rule {
          string name = 1;
          string doc = 2;
          string expr = 3;
          string sql = 4;
        }
        extend google.protobuf.FileOptions { Meta file_meta = 1088; }
        extend google.protobuf.MessageOptions { Meta message_meta = 1088; }
        extend google.protobuf.FieldOptions { Meta field_meta = 1088; }
        extend google.protobuf.EnumOptions { Meta enum_meta = 1088; }
        extend google.protobuf.EnumValueOptions { Meta enum_value_meta = 1088; }
    """,
    "confluent/type/decimal.proto": """
        syntax = "proto3";
        package confluent.type;
        message Decimal {
          bytes value = 1;
          uint32 precision = 2;
          int32 scale = 3;
        }
    """,
    "confluent/types/decimal.proto": """
        syntax = "proto3";
        import public "confluent/type/decimal.proto";
    """,
    "confluent/type/variant.proto": """
        syntax = "proto3";
        package confluent.type;
        message Variant {
          bytes metadata = 1;
          bytes value = 2;
        }
    """,
}
MODULE_PATHS = frozenset(_MODULES)
PATHS = MODULE_PATHS | frozenset(_TEXTS)


@lru_cache(maxsize=len(PATHS))
def builtin(path: str) -> ProtoFile:
    """The file at one of `PATHS`."""
    if path in _TEXTS:
        return Parser(_TEXTS[path]).file()
    return file_of(builtin_descriptor(path))


def builtin_descriptor(path: str) -> FileDescriptorProto:
    found = FileDescriptorProto()
    import_module(_MODULES[path]).DESCRIPTOR.CopyToProto(found)
    return found
