"""Writing records to a topic, or to one of its partitions."""

from typing import Final

from moldau.proxies.rest.http.answers import Answer, json_answer
from moldau.proxies.rest.http.call import Call, as_object, parse_json
from moldau.proxies.rest.http.routing import RECORDS_BODY, Route
from moldau.proxies.rest.producing.requests import parse_records, status_of, write, written_json


async def to_topic(call: Call) -> Answer:
    return await _produce(call, None)


async def to_partition(call: Call) -> Answer:
    return await _produce(call, call.number("partition"))


async def _produce(call: Call, partition: int | None) -> Answer:
    name = call.records_format
    body = await call.body()
    given = as_object(parse_json(body) if body.strip() else None)
    parsed = await parse_records(call.proxy, given, name, call.parameters["topic"], partition)
    text_offsets = call.wants_text_offsets
    written = await write(call.proxy, parsed)
    return json_answer(written_json(parsed, written, text_offsets=text_offsets), status_of(written))


OFFSETS: Final = {"offsets": "`string` answers offsets as strings"}
ROUTES: Final = [
    Route(
        "POST",
        "/topics/{topic}",
        to_topic,
        "Writes records to a topic",
        body="V2Records",
        body_kind=RECORDS_BODY,
        answer="V2Produced",
        query=OFFSETS,
    ),
    Route(
        "POST",
        "/topics/{topic}/partitions/{partition}",
        to_partition,
        "Writes records to one partition of a topic",
        body="V2Records",
        body_kind=RECORDS_BODY,
        answer="V2Produced",
        query=OFFSETS,
    ),
]
