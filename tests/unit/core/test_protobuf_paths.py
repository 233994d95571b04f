"""Paths of Protobuf messages, as Confluent's serializers write them."""

import pytest
from confluent_kafka.schema_registry.common.protobuf import _create_index_array
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto
from hypothesis import given
from hypothesis import strategies as st

from moldau.core.protobuf_paths import message_at, path_of, read_path, write_path

TOP = list(DescriptorProto.DESCRIPTOR.file.message_types_by_name.values())


@given(st.lists(st.integers(0, 1 << 20), min_size=1, max_size=64), st.binary(max_size=3))
def test_a_path_is_read_as_it_was_written(path: list[int], before: bytes) -> None:
    data = before + write_path(path)
    assert read_path(data + b"rest", len(before)) == (tuple(path), len(data))


def test_the_bytes_are_those_of_confluent() -> None:
    assert write_path([0]) == b"\x00"
    assert write_path([1, 0]) == b"\x04\x02\x00"
    assert read_path(b"\x02\x00") == ((0,), 2)
    for descriptor in (DescriptorProto.DESCRIPTOR, DescriptorProto.ExtensionRange.DESCRIPTOR):
        path = path_of(descriptor, TOP)
        assert path == _create_index_array(descriptor)
        assert message_at(TOP, path) is descriptor
    assert path_of(FieldDescriptorProto.DESCRIPTOR, TOP) == [TOP.index(FieldDescriptorProto.DESCRIPTOR)]


@pytest.mark.parametrize("data", [b"", b"\x80", b"\x04\x02", b"\x01", b"\xff\xff\x7f"])
def test_a_broken_path_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="its frame"):
        read_path(data)


def test_a_message_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match=r"its frame names message \[0, 99\]"):
        message_at(TOP, [0, 99])
