"""Records as server-sent events: an answer without an end, which browsers read with EventSource.

The id of an event has the positions after it. A browser that was disconnected sends the last id, and goes on there.
"""

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Mapping
from typing import Any, Final

import orjson

from moldau.proxies.rest.consuming.simple import Partition, Reader
from moldau.proxies.rest.extras.many_topics import find_positions, format_of
from moldau.proxies.rest.failures import RestFailure, bad_request
from moldau.proxies.rest.http.answers import Answer, Streamed
from moldau.proxies.rest.http.call import Call
from moldau.proxies.rest.http.negotiation import EVENTS
from moldau.proxies.rest.http.routing import Route

TURN_S: Final = 0.5
"""How soon a stream notices that its client has gone."""
ALIVE_S: Final = 15.0
"""How often something is sent, so that nothing in between takes the connection for dead."""
PORTION: Final = 500
PORTION_BYTES: Final = 1 << 20
POSITION: Final = re.compile(r"([\w.-]{1,249}):([0-9]{1,9}):([0-9]{1,19})")


async def events(call: Call) -> Answer:
    topics = call.query_lists.get("topic")
    if not topics or not all(topics):
        raise bad_request("topic is missing: name the topics, as in /events?topic=orders&topic=payments.")
    start = call.query("from") or "latest"
    if start not in ("earliest", "latest"):
        raise bad_request(f"from={start}: it takes earliest or latest.")
    name = format_of(call.query("format") or "json")
    text_offsets = call.wants_text_offsets
    positions = await find_positions(call, dict.fromkeys(topics, start))
    positions |= _last_seen(call.headers.get("last-event-id"), positions)
    await call.body()
    reader = await call.proxy.simple.open(positions)
    pieces = _events(call, reader, name, text_offsets=text_offsets)
    return Streamed(content_type=EVENTS, pieces=pieces)


async def _events(
    call: Call, reader: Reader, name: str, *, text_offsets: bool
) -> AsyncGenerator[bytes, None]:
    simple, stopping = call.proxy.simple, call.proxy.is_stopping
    gone = asyncio.create_task(call.wait_until_gone())
    reading: asyncio.Future[list[dict[str, Any]]] | None = None
    try:
        yield b": reads from here\n\n"
        last_s = time.monotonic()
        while not gone.done() and not stopping.is_set():
            reading = asyncio.ensure_future(
                simple.on_thread(
                    lambda: reader.read(name, TURN_S, PORTION, PORTION_BYTES, text_offsets=text_offsets)
                )
            )
            try:
                records = await asyncio.shield(reading)
            except RestFailure as failure:
                said = {"error_code": failure.code, "message": failure.message}
                yield b"event: error\ndata: " + orjson.dumps(said) + b"\n\n"
                return
            if records:
                call.proxy.metrics.consumed(len(records))
                yield _portion(records, reader.positions)
            elif time.monotonic() - last_s < ALIVE_S:
                continue
            else:
                yield b": still here\n\n"
            last_s = time.monotonic()
    finally:
        gone.cancel()
        if reading is not None:
            await asyncio.wait([reading])
        await asyncio.shield(simple.give_back(reader))


def _portion(records: list[dict[str, Any]], positions: Mapping[Partition, int]) -> bytes:
    """The last event has the id: a client that was cut off before it gets the portion again."""
    pieces = [b"data: " + orjson.dumps(each) + b"\n\n" for each in records]
    following = ",".join(
        f"{topic}:{partition}:{offset}" for (topic, partition), offset in sorted(positions.items())
    )
    pieces[-1] = b"id: " + following.encode() + b"\n" + pieces[-1]
    return b"".join(pieces)


def _last_seen(header: str | None, known: Mapping[Partition, int]) -> dict[Partition, int]:
    """Of the partitions that are read. Raises RestFailure 400."""
    found = {}
    for part in (header or "").split(","):
        if not part:
            continue
        match = POSITION.fullmatch(part)
        if match is None:
            raise bad_request(f"Last-Event-ID: {part[:60]!r} is no id that /events has sent.")
        partition = (match[1], int(match[2]))
        if partition in known:
            found[partition] = min(int(match[3]), (1 << 63) - 1)
    return found


ROUTES: Final = [
    Route(
        "GET",
        "/events",
        events,
        "Records of topics as server-sent events, without end",
        answer="Events",
        query={
            "topic": "a topic; repeat it for more",
            "from": "`earliest`, or `latest`, which is the default",
            "format": "json, binary, avro, jsonschema or protobuf",
            "offsets": "`string` answers offsets as strings",
        },
    )
]
