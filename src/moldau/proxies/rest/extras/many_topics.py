"""Many topics in one call: written, and read from positions that the client names and receives."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final

from confluent_kafka.admin import OffsetSpec

from moldau.proxies.rest.failures import RestFailure, partition_not_found, unprocessable
from moldau.proxies.rest.http.answers import Answer, json_answer
from moldau.proxies.rest.http.call import LONG_MAX, Call, as_object, as_whole, parse_json
from moldau.proxies.rest.http.negotiation import FORMATS
from moldau.proxies.rest.http.routing import RECORDS_BODY, Route
from moldau.proxies.rest.producing.requests import ParsedRecords, parse_records, write, written_json

Partition = tuple[str, int]
SPECS: Final[dict[str, Callable[[], OffsetSpec]]] = {
    "earliest": OffsetSpec.earliest,
    "latest": OffsetSpec.latest,
}
TOPICS_MAX: Final = 1_000
PARTITIONS_MAX: Final = 10_000
RECORDS_MAX: Final = 10_000
RECORDS_DEFAULT: Final = 500


async def produce(call: Call) -> Answer:
    """Nothing is written unless the records of all topics can be."""
    name = call.records_format
    body = await call.body()
    topics = _topics(as_object(parse_json(body) if body.strip() else None))
    text_offsets = call.wants_text_offsets
    parsed = [
        await parse_records(call.proxy, as_object(given), name, topic) for topic, given in topics.items()
    ]
    answers = await asyncio.gather(*(_write(call, each, text_offsets=text_offsets) for each in parsed))
    return json_answer({"topics": dict(zip(topics, answers, strict=True))})


async def _write(call: Call, parsed: ParsedRecords, *, text_offsets: bool) -> dict[str, Any]:
    try:
        written = await write(call.proxy, parsed)
    except RestFailure as failure:
        return {"error_code": failure.code, "message": failure.message}
    return written_json(parsed, written, text_offsets=text_offsets)


async def poll(call: Call) -> Answer:
    """Reads from the positions in the body. `next` of the answer is the body's `topics` for the next read."""
    given = await call.json_object()
    settings = call.proxy.settings
    name = format_of(given.get("format", "json"))
    timeout_ms = _number(given, "timeout_ms", settings.consumer_request_timeout_ms, 0)
    timeout_ms = min(timeout_ms, settings.consumer_request_timeout_max_ms)
    records_max = min(_number(given, "max_records", RECORDS_DEFAULT, 1), RECORDS_MAX)
    bytes_max = min(
        _number(given, "max_bytes", settings.consumer_request_bytes_max, 1),
        settings.consumer_request_bytes_max,
    )
    text_offsets = call.wants_text_offsets
    positions = await find_positions(call, _topics(given))
    reader = await call.proxy.simple.open(positions)
    try:
        records = await call.proxy.simple.on_thread(
            lambda: reader.read(name, timeout_ms / 1000, records_max, bytes_max, text_offsets=text_offsets)
        )
    finally:
        await asyncio.shield(call.proxy.simple.give_back(reader))
    call.proxy.metrics.consumed(len(records))
    following: dict[str, dict[str, Any]] = {}
    for (topic, partition), offset in sorted(reader.positions.items()):
        following.setdefault(topic, {})[str(partition)] = str(offset) if text_offsets else offset
    return json_answer({"records": records, "next": following})


async def find_positions(call: Call, wanted: Mapping[str, Any]) -> dict[Partition, int]:
    """Of what a request says of each topic: earliest, latest, or an offset or one of these words for each of its
    partitions. Raises RestFailure."""
    cluster = call.proxy.cluster
    described = {topic.name: topic for topic in await cluster.topics(list(wanted))}
    positions: dict[Partition, int] = {}
    asked: dict[Partition, str] = {}
    for topic, where in wanted.items():
        known = [each.id for each in described[topic].partitions]
        places = dict.fromkeys(map(str, known), where) if isinstance(where, str) else where
        if not isinstance(places, dict) or not places:
            raise unprocessable(
                f"topics.{topic} is earliest, latest, or an object with an offset for each partition to read."
            )
        for text, place in places.items():
            partition = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
            if partition not in known:
                raise partition_not_found(topic, partition)
            offset = _offset(place)
            if offset is not None:
                positions[topic, partition] = offset
            elif place in SPECS:
                asked[topic, partition] = place
            else:
                raise unprocessable(f"topics.{topic}.{text} is no offset, and neither earliest nor latest.")
    if len(positions) + len(asked) > PARTITIONS_MAX:
        raise unprocessable(f"More than {PARTITIONS_MAX} partitions; read them in several requests.")
    for word, spec in SPECS.items():
        positions |= await cluster.offsets([key for key, place in asked.items() if place == word], spec())
    return positions


def format_of(name: Any) -> str:
    """Raises RestFailure 422."""
    if name not in FORMATS:
        raise unprocessable(f"Invalid format type. {name!r} is none of {', '.join(FORMATS)}.")
    return str(name)


def _topics(given: dict[str, Any]) -> dict[str, Any]:
    topics = given.get("topics")
    if not isinstance(topics, dict) or not topics or len(topics) > TOPICS_MAX:
        raise unprocessable(f"topics is not an object with 1 to {TOPICS_MAX} topics by name.")
    return topics


def _offset(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        value = int(value)
    value = as_whole(value)
    return value if value is not None and 0 <= value <= LONG_MAX else None


def _number(given: dict[str, Any], name: str, default: int, at_least: int) -> int:
    if given.get(name) is None:
        return default
    value = as_whole(given[name])
    if value is None or not at_least <= value <= LONG_MAX:
        raise unprocessable(f"{name} is not a number of at least {at_least}.")
    return value


ROUTES: Final = [
    Route(
        "POST",
        "/produce",
        produce,
        "Writes records to many topics",
        body="ManyRecords",
        body_kind=RECORDS_BODY,
        answer="ManyProduced",
        query={"offsets": "`string` answers offsets as strings"},
    ),
    Route(
        "POST",
        "/poll",
        poll,
        "Reads many topics from given positions, without an instance",
        body="Poll",
        answer="Polled",
        query={"offsets": "`string` answers offsets as strings"},
    ),
]
