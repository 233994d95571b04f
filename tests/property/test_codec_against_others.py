"""Our bytes, read and written again by other people's codecs: kio knows all APIs, kafka-python most.

Both must give back the same bytes. kafka-python's fields carry the same names, so its values are compared too.
"""

import importlib
import io
import re
import uuid
import warnings
from typing import Any

import pytest
from codec_messages import message_classes, messages, versions_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kio.serial import entity_reader, entity_writer

from moldau.protocol.codec import encode
from moldau.protocol.spec import Message, fields_of

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # kafka-python reads its schemas through a deprecated call
    from kafka.protocol import admin, consumer, metadata, producer, sasl

KAFKA_PYTHON_MODULES = (producer, consumer, metadata, admin, sasl)
# Two that kafka-python treats specially: it reads an answer with an error as v0, and cannot encode what it decoded.
KAFKA_PYTHON_SPECIAL = ("ApiVersionsResponse", "DeleteTopicsRequest")

frugal = settings(
    max_examples=3,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)


def _name(cls: type[Message]) -> str:
    return cls.__name__


def _in_kafka_python(cls: type[Message]) -> Any:
    return next(
        (getattr(module, _name(cls)) for module in KAFKA_PYTHON_MODULES if hasattr(module, _name(cls))), None
    )


def _in_kio(cls: type[Message], version: int) -> Any:
    api, side = re.fullmatch(r"(\w+)(Request|Response)", _name(cls)).groups()
    package = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", api).lower()
    return getattr(importlib.import_module(f"kio.schema.{package}.v{version}.{side.lower()}"), _name(cls))


@pytest.mark.parametrize("cls", message_classes(), ids=_name)
@frugal
@given(data=st.data())
def test_kio_reads_and_writes_the_same_bytes(cls: type[Message], data: st.DataObject) -> None:
    for version in versions_of(cls):
        theirs = _in_kio(cls, version)
        encoded = encode(data.draw(messages(cls, version, plausible=True)), version)
        entity, size = entity_reader(theirs)(encoded, 0)
        assert size == len(encoded)
        written = io.BytesIO()
        entity_writer(theirs)(written, entity)
        assert written.getvalue() == encoded


@pytest.mark.parametrize(
    "cls",
    [cls for cls in message_classes() if _in_kafka_python(cls) and _name(cls) not in KAFKA_PYTHON_SPECIAL],
    ids=_name,
)
@frugal
@given(data=st.data())
def test_kafka_python_reads_the_same_values_and_writes_the_same_bytes(
    cls: type[Message], data: st.DataObject
) -> None:
    theirs = _in_kafka_python(cls)
    for version in versions_of(cls):
        if version > theirs.max_version:
            continue
        message = data.draw(messages(cls, version, plausible=True))
        encoded = encode(message, version)
        decoded = theirs.decode(encoded, version=version)
        assert bytes(decoded.encode()) == encoded
        _assert_same(message, decoded, version)


def _assert_same(ours: Any, theirs: Any, version: int) -> None:
    if isinstance(ours, list):
        assert len(ours) == len(theirs)
        for our_element, their_element in zip(ours, theirs, strict=True):
            _assert_same(our_element, their_element, version)
    elif hasattr(ours, "__dataclass_fields__"):
        for field in fields_of(type(ours)):
            value = getattr(ours, field.name)
            # kafka-python knows no default for tagged fields that are absent, and turns operations into sets.
            skipped = field.tag is not None and value == field.default
            if version in field.versions and not skipped and "authorized_operations" not in field.name:
                _assert_same(value, getattr(theirs, field.name), version)
    else:
        assert ours == (theirs.bytes if isinstance(theirs, uuid.UUID) else theirs)
