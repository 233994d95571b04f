"""The same records through Kafka's transformations and predicates and through ours: equal records, or both errors."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from compat.connect.cases import PREDICATES, SETTINGS, make_case
from compat.connect.forms import comparable_record, record_form
from compat.connect.oracle import answers
from kafka_jars import KafkaJarsUnavailable
from moldau.core.errors import ConfigError
from moldau.pipeline.connect.data.records import Record
from moldau.pipeline.connect.transforms.catalog import predicate_class
from moldau.pipeline.connect.transforms.chain import Chain

CASES = 40
NAMES = [*SETTINGS, *PREDICATES]

pytestmark = [pytest.mark.java, pytest.mark.slow]


@pytest.fixture(scope="module")
def kafka_says() -> dict[tuple[str, int], dict[str, Any]]:
    numbered = [(name, number) for name in NAMES for number in range(CASES)]
    try:
        told = answers([make_case(*one)[0] for one in numbered])
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))
    return dict(zip(numbered, told, strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_records_equal_kafkas(name: str, kafka_says: dict[tuple[str, int], dict[str, Any]]) -> None:
    wrong = []
    for number in range(CASES):
        case, records = make_case(name, number)
        told, ours = kafka_says[name, number], _ours(case, records)
        wrong += [] if _agree(told, ours) else [(number, case, told, ours)]
    assert not wrong, (
        f"make_case({name!r}, number) differs for {[one[0] for one in wrong]}; the first: {wrong[0]}"
    )


def test_most_cases_say_something(kafka_says: dict[tuple[str, int], dict[str, Any]]) -> None:
    """A comparison of errors with errors would show little."""
    good = Counter(
        name
        for (name, _), told in kafka_says.items()
        for outcome in told.get("outcomes", ())
        if isinstance(outcome, bool) or "record" in outcome
    )
    assert {name for name in NAMES if good[name] < CASES} == set()


def _ours(case: dict[str, Any], records: Sequence[Record]) -> dict[str, Any]:
    try:
        if case["kind"] == "predicate":
            predicate = predicate_class(case["class"])(case["config"])
            return {"outcomes": [predicate.test(one) for one in records]}
        own = {f"transforms.it.{name}": text for name, text in case["config"].items()}
        chain = Chain.of({"transforms": "it", "transforms.it.type": case["class"], **own})
    except ConfigError as wrong:
        return {"error": str(wrong)}
    return {"outcomes": [_outcome(one) for one in chain.apply_all(records)]}


def _outcome(found: Record | Exception | None) -> dict[str, Any]:
    if isinstance(found, Exception):
        return {"error": str(found)}
    return {"record": None if found is None else record_form(found)}


KAFKA_BUG = "Cannot list fields on non-struct type"
"""SetSchemaMetadata of Kafka 4.2 cannot rename schemas that are no structs; ours can, as Kafka's page says."""


def _agree(told: dict[str, Any], ours: dict[str, Any]) -> bool:
    if "error" in told or "error" in ours:
        return "error" in told and "error" in ours
    return all(
        one == other
        or (isinstance(one, dict) and KAFKA_BUG in one.get("error", ""))
        or ("error" in one and "error" in other)
        or ("record" in one and "record" in other and _same(one["record"], other["record"]))
        for one, other in zip(told["outcomes"], ours["outcomes"], strict=True)
    )


def _same(one: dict[str, Any] | None, other: dict[str, Any] | None) -> bool:
    if one is None or other is None:
        return one is other
    return comparable_record(one) == comparable_record(other)
