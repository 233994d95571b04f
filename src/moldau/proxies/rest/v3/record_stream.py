"""Writing records: one, a batch, or a stream of JSON objects with an answer for each as soon as it is in Kafka."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Any, Final, NamedTuple

import orjson
from starlette.requests import ClientDisconnect

from moldau.proxies.rest.failures import (
    RestFailure,
    bad_request,
    check_topic_name,
)
from moldau.proxies.rest.http.answers import Answer, Streamed, json_answer
from moldau.proxies.rest.http.call import Call
from moldau.proxies.rest.http.json_stream import BrokenStream, JsonSplitter
from moldau.proxies.rest.http.negotiation import check_json
from moldau.proxies.rest.http.routing import Route
from moldau.proxies.rest.producing.producer import Written
from moldau.proxies.rest.producing.v3_records import OK, Encoded, Json, answer, encode, failed
from moldau.proxies.rest.v3.resources import links_of

PATH: Final = "/v3/clusters/{cluster_id}/topics/{topic_name}/records"
PORTIONS_MAX: Final = 64
"""Portions of a stream that are under way at a time; then its client waits."""
MULTI_STATUS: Final = 207
ID_MAX: Final = 80


class Portion(NamedTuple):
    """Records that arrived together. `encoded` has a failure where a record cannot be written."""

    encoded: list[Encoded | RestFailure]
    future: "asyncio.Future[list[Written]] | None"


async def write(call: Call) -> Answer:
    """A body of known length is answered as a whole, so that one record has its own status."""
    cluster_id = (await links_of(call)).cluster_id
    check_json(call.headers.get("content-type"))
    topic = call.parameters["topic_name"]
    check_topic_name(topic)
    if "content-length" not in call.headers:
        return Streamed(pieces=_stream(call, cluster_id, topic))
    splitter = JsonSplitter(call.proxy.settings.request_bytes_max)
    broken: BrokenStream | None = None
    try:
        objects = splitter.feed(await call.body())
        splitter.end()
    except BrokenStream as error:
        broken, objects = error, error.complete or []
    portion = await _begin(call, topic, objects)
    answers = await _answers(call, cluster_id, topic, portion)
    if broken is not None:
        answers.append(failed(bad_request(f"{broken}.")))
    if not answers:
        raise RestFailure(422, "The request has no body; send a record, or several one after the other.")
    if len(answers) == 1:
        code = answers[0]["error_code"]
        return json_answer(answers[0], 200 if code == OK else int(str(code)[:3]))
    return Answer(b"".join(orjson.dumps(each) + b"\n" for each in answers))


async def _stream(call: Call, cluster_id: str, topic: str) -> AsyncGenerator[bytes, None]:
    portions: asyncio.Queue[Portion | RestFailure | None] = asyncio.Queue(PORTIONS_MAX)
    reader = asyncio.create_task(_read(call, topic, portions))
    try:
        while (portion := await portions.get()) is not None:
            if isinstance(portion, RestFailure):
                yield orjson.dumps(failed(portion)) + b"\n"
                continue
            answers = await _answers(call, cluster_id, topic, portion)
            yield b"".join(orjson.dumps(each) + b"\n" for each in answers)
    finally:
        reader.cancel()


async def _read(call: Call, topic: str, portions: "asyncio.Queue[Portion | RestFailure | None]") -> None:
    """Until the client has sent everything, has gone, or sends what is no record."""
    splitter = JsonSplitter(call.proxy.settings.record_bytes_max)
    stopping = asyncio.create_task(call.proxy.is_stopping.wait())
    pieces = aiter(call.pieces())
    try:
        while True:
            piece = asyncio.ensure_future(anext(pieces, None))
            await asyncio.wait({piece, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not piece.done():
                piece.cancel()
                raise BrokenStream(
                    "the proxy is stopping, or the cluster refuses this login by now; "
                    "send the rest in another request",
                    [],
                )
            data = piece.result()
            if data is None:
                splitter.end()
                break
            objects = splitter.feed(data)
            if objects:
                await portions.put(await _begin(call, topic, objects))
    except BrokenStream as broken:
        if broken.complete:
            await portions.put(await _begin(call, topic, broken.complete))
        await portions.put(bad_request(f"{broken}."))
    except RestFailure as failure:
        await portions.put(failure)
    except ClientDisconnect:
        pass
    finally:
        stopping.cancel()
    await portions.put(None)


async def _begin(call: Call, topic: str, objects: Sequence[bytes]) -> Portion:
    encoded: list[Encoded | RestFailure] = []
    for each in objects:
        try:
            encoded.append(await encode(call.proxy, topic, _parsed(each)))
        except RestFailure as failure:
            encoded.append(failure)
    return await _written(call, topic, encoded)


async def _written(call: Call, topic: str, encoded: list[Encoded | RestFailure]) -> Portion:
    records = [each.record for each in encoded if isinstance(each, Encoded)]
    return Portion(encoded, await call.proxy.producer.begin(topic, records) if records else None)


async def _answers(call: Call, cluster_id: str, topic: str, portion: Portion) -> list[Json]:
    written = await portion.future if portion.future is not None else []
    call.proxy.metrics.produced(written)
    left = iter(written)
    return [
        failed(each) if isinstance(each, RestFailure) else answer(cluster_id, topic, each, next(left))
        for each in portion.encoded
    ]


def _parsed(data: bytes) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise bad_request(f"a record is not JSON: {error}.") from None


async def write_batch(call: Call) -> Answer:
    """Each entry has an id of the client's, by which the answer names it."""
    cluster_id = (await links_of(call)).cluster_id
    topic = call.parameters["topic_name"]
    check_topic_name(topic)
    entries = _entries(call, await call.json_object())
    encoded: list[Encoded | RestFailure] = []
    for entry in entries:
        record = {name: value for name, value in entry.items() if name != "id"}
        try:
            encoded.append(await encode(call.proxy, topic, record))
        except RestFailure as failure:
            encoded.append(failure)
    answers = await _answers(call, cluster_id, topic, await _written(call, topic, encoded))
    said = [{"id": entry["id"], **each} for entry, each in zip(entries, answers, strict=True)]
    successes = [each for each in said if each["error_code"] == OK]
    for each in successes:
        del each["error_code"]
    failures = [each for each in said if "error_code" in each]
    return json_answer({"successes": successes, "failures": failures}, MULTI_STATUS)


def _entries(call: Call, given: Json) -> list[Json]:
    entries = given.get("entries")
    most = call.proxy.settings.batch_entries_max
    if not isinstance(entries, list) or not entries:
        raise RestFailure(42208, "Empty batch. entries is an array of records, each with an id.")
    if len(entries) > most:
        raise RestFailure(
            42208,
            f"Too many entries in batch. A batch has at most {most} (produce.batch.maximum.entries); use a stream.",
        )
    ids = [each.get("id") if isinstance(each, dict) else None for each in entries]
    if not all(isinstance(each, str) and 0 < len(each) <= ID_MAX for each in ids):
        raise RestFailure(
            42208,
            f"Batch entry identifier is not a valid string. Each entry has an id of 1 to {ID_MAX} characters.",
        )
    if len(set(ids)) < len(ids):
        raise RestFailure(42208, "Batch entry IDs are not distinct.")
    return entries


ROUTES: Final = [
    Route(
        "POST",
        PATH,
        write,
        "Writes a record, or a stream of records one after the other",
        body="V3Record",
        answer="V3Written",
    ),
    Route(
        "POST",
        f"{PATH}:batch",
        write_batch,
        "Writes records, each with an id",
        body="V3Batch",
        answer="V3BatchWritten",
        status=MULTI_STATUS,
    ),
]
