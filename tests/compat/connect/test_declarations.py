"""The settings of our transformations and predicates are those of Kafka's: names, types, defaults, importance."""

from typing import Any

import pytest

from compat.connect.cases import HAVE_PARTS, PACKAGE, PREDICATES, SETTINGS
from compat.connect.oracle import answers
from kafka_jars import KafkaJarsUnavailable
from moldau.core.settings.text_form import format_value
from moldau.pipeline.connect.declarations import Declaration
from moldau.pipeline.connect.transforms.catalog import predicate_class, transformation_kind

pytestmark = [pytest.mark.java, pytest.mark.slow]
CLASSES = [f"{PACKAGE}.{name}{'$Value' if name in HAVE_PARTS else ''}" for name in SETTINGS]
CLASSES += [f"{PACKAGE}.predicates.{name}" for name in PREDICATES]


@pytest.fixture(scope="module")
def kafka_says() -> dict[str, dict[str, Any]]:
    try:
        told = answers([{"kind": "declarations", "class": name} for name in CLASSES])
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))
    return dict(zip(CLASSES, told, strict=True))


@pytest.mark.parametrize("name", CLASSES)
def test_settings_equal_kafkas(name: str, kafka_says: dict[str, dict[str, Any]]) -> None:
    if ".predicates." in name:
        declarations = predicate_class(name).declarations
    else:
        declarations = transformation_kind(name).transformation.declarations
    assert {one.name: _told(one) for one in declarations} == kafka_says[name]


def _told(one: Declaration) -> dict[str, Any]:
    told = {"type": one.key.type.name, "required": one.is_required, "importance": one.key.importance.name}
    return told if one.is_required else {**told, "default": format_value(one.key.default)}
