"""Functions that ask a clock or roll dice: the only ones that give something else each time."""

import random
import time
import uuid
from typing import Final

from moldau.pipeline.sql.functions.declaration import Category, Form, Parameter, Scalar
from moldau.pipeline.sql.types import BIGINT, BYTES, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP

_DAY_MS: Final = 86_400_000


def random_number() -> float:
    return random.random()


def random_uuid() -> str:
    return str(uuid.uuid4())


def uuid_of_bytes(value: bytes) -> str | None:
    return str(uuid.UUID(bytes=value)) if len(value) == 16 else None


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def today() -> int:
    return now_ms() // _DAY_MS


def same(value: int) -> int:
    return value


FUNCTIONS: Final[tuple[Scalar, ...]] = (
    Scalar(
        "RANDOM",
        Category.MATHEMATICAL,
        "A random number from 0 up to 1.",
        (Form((), DOUBLE),),
        random_number,
        is_deterministic=False,
        examples=("RANDOM() < 1 => TRUE",),
    ),
    Scalar(
        "UNIX_DATE",
        Category.DATE_TIME,
        "The days from 1970-01-01 to a DATE, or to today in UTC.",
        (Form((), INTEGER, meaning=today), Form((Parameter("date", DATE),), INTEGER, meaning=same)),
        is_deterministic=False,
        examples=("UNIX_DATE(PARSE_DATE('2021-01-01', 'yyyy-MM-dd')) => 18628",),
    ),
    Scalar(
        "UNIX_TIMESTAMP",
        Category.DATE_TIME,
        "The milliseconds from the beginning of 1970 in UTC to a TIMESTAMP, or to now.",
        (Form((), BIGINT, meaning=now_ms), Form((Parameter("timestamp", TIMESTAMP),), BIGINT, meaning=same)),
        is_deterministic=False,
        examples=("UNIX_TIMESTAMP(CAST('2021-01-01' AS TIMESTAMP)) => 1609459200000",),
    ),
    Scalar(
        "UUID",
        Category.STRING,
        "A random UUID of version 4, or the UUID that 16 bytes stand for.",
        (
            Form((), STRING, meaning=random_uuid),
            Form((Parameter("value", BYTES),), STRING, meaning=uuid_of_bytes),
        ),
        is_deterministic=False,
        examples=(
            "LEN(UUID()) => 36",
            "UUID(TO_BYTES('00112233445566778899aabbccddeeff', 'hex')) => '00112233-4455-6677-8899-aabbccddeeff'",
        ),
    ),
)
