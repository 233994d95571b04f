"""What a handler returns: a complete answer, or one that is sent piece by piece."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, Final

import orjson

V2: Final = "application/vnd.kafka.v2+json"
JSON: Final = "application/json"


@dataclass(slots=True)
class Answer:
    """`content_type` None is the one the client asked for."""

    body: bytes = b""
    status: int = 200
    content_type: str | None = None
    allowed: str | None = None
    """The methods that the path takes, of a 405."""


@dataclass(slots=True)
class Streamed(Answer):
    """`pieces` are sent as they come. The first one is awaited before the head is sent."""

    pieces: AsyncGenerator[bytes, None] | None = None


def json_answer(value: Any, status: int = 200, content_type: str | None = None) -> Answer:
    return Answer(orjson.dumps(value), status, content_type)


def no_content() -> Answer:
    return Answer(status=204)
