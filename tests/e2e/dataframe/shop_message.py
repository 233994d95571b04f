"""A message class as protoc would generate it: every kind of field once."""

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, timestamp_pb2

_FIELD = descriptor_pb2.FieldDescriptorProto
_MANY = {"label": _FIELD.LABEL_REPEATED}


def _file() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(
        name="dataframe_shop.proto",
        package="dataframe_shop",
        syntax="proto3",
        dependency=[timestamp_pb2.DESCRIPTOR.name],
    )
    state = file.enum_type.add(name="State")
    state.value.add(name="NEW", number=0)
    state.value.add(name="PAID", number=1)
    line = file.message_type.add(name="Line")
    line.field.add(name="name", number=1, type=_FIELD.TYPE_STRING)
    line.field.add(name="raw", number=2, type=_FIELD.TYPE_BYTES)
    order = file.message_type.add(name="Order")
    order.field.add(name="id", number=1, type=_FIELD.TYPE_INT64)
    order.field.add(name="note", number=2, type=_FIELD.TYPE_STRING, proto3_optional=True, oneof_index=0)
    order.oneof_decl.add(name="_note")
    order.field.add(name="state", number=3, type=_FIELD.TYPE_ENUM, type_name=".dataframe_shop.State")
    order.field.add(name="tags", number=4, type=_FIELD.TYPE_STRING, **_MANY)
    entry = order.nested_type.add(name="StockEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=_FIELD.TYPE_STRING)
    entry.field.add(name="value", number=2, type=_FIELD.TYPE_INT32)
    of_entry = ".dataframe_shop.Order.StockEntry"
    order.field.add(name="stock", number=5, type=_FIELD.TYPE_MESSAGE, type_name=of_entry, **_MANY)
    order.field.add(name="at", number=6, type=_FIELD.TYPE_MESSAGE, type_name=".google.protobuf.Timestamp")
    order.field.add(
        name="lines", number=7, type=_FIELD.TYPE_MESSAGE, type_name=".dataframe_shop.Line", **_MANY
    )
    return file


descriptor_pool.Default().Add(_file())
Order = message_factory.GetMessageClass(
    descriptor_pool.Default().FindMessageTypeByName("dataframe_shop.Order")
)
