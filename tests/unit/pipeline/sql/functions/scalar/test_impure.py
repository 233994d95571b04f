"""Functions that give something else each time."""

import time
import uuid

from scalar_examples import evaluated, value_of

from moldau.pipeline.sql.functions.scalar import SCALARS
from moldau.pipeline.sql.functions.scalar.impure import FUNCTIONS


def test_only_these_are_not_deterministic() -> None:
    assert {function.name for function in SCALARS if not function.is_deterministic} == {
        function.name for function in FUNCTIONS
    }


def test_random_numbers() -> None:
    numbers = {value_of("RANDOM()") for _ in range(20)}
    assert len(numbers) > 1
    assert all(0 <= number < 1 for number in numbers)


def test_uuids() -> None:
    one, other = value_of("UUID()"), value_of("UUID()")
    assert one != other
    assert uuid.UUID(one).version == 4
    assert value_of("UUID(TO_BYTES('00', 'hex'))") is None
    assert value_of("UUID(CAST(NULL AS BYTES))") is None


def test_the_clock() -> None:
    before = time.time_ns() // 1_000_000
    kind, now = evaluated("UNIX_TIMESTAMP()")
    assert str(kind) == "BIGINT"
    assert before <= now <= time.time_ns() // 1_000_000
    kind, today = evaluated("UNIX_DATE()")
    assert str(kind) == "INTEGER"
    assert before // 86_400_000 <= today <= before // 86_400_000 + 1
