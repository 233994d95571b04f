"""A client with long requests leaves others their share of the loop."""

import asyncio
import itertools
import struct
import time

from moldau.net.connection import Chunk, Connection
from moldau.net.fair_share import LONG_S, REST_S_MAX, FairShare
from moldau.net.listener import ConnectionLimits, Endpoint, Listeners

LIMITS = ConnectionLimits(1 << 20, idle_ms_max=60_000, connections_max=10, connections_per_ip_max=10)
LONG, SHORT = b"L", b"s"
LONG_REQUESTS = 5
TOOK_S = 16 * LONG_S
"""Long enough that a busy machine, which may not let this process run for a while, does not use up a whole rest."""


def frame(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


class Working:
    """Takes its time for long requests, and notes what was served."""

    def __init__(self, served: list[bytes]) -> None:
        self._served = served

    def on_frame(self, request: memoryview) -> list[Chunk]:
        self._served.append(bytes(request))
        if request == LONG:
            time.sleep(TOOK_S)
        return [bytes(request)]

    def closed(self) -> None: ...


async def served_beside_each_other() -> list[bytes]:
    """What was served, in order, while one client asks for much at once and another for one thing after the other."""
    served: list[bytes] = []

    def open_session(_: Connection) -> Working:
        return Working(served)

    loop = asyncio.get_running_loop()
    listeners = Listeners(loop, lambda: LIMITS, open_session, backlog=1, send_buffer_bytes=-1)
    try:
        endpoint = listeners.listen(Endpoint("PLAINTEXT", "127.0.0.1", 0))
        greedy_reader, greedy = await asyncio.open_connection(endpoint.host, endpoint.port)
        modest_reader, modest = await asyncio.open_connection(endpoint.host, endpoint.port)
        modest.write(frame(SHORT))
        await modest_reader.readexactly(len(SHORT))
        greedy.write(frame(LONG) * LONG_REQUESTS)
        answers = asyncio.ensure_future(greedy_reader.readexactly(LONG_REQUESTS))
        while not answers.done():
            modest.write(frame(SHORT))
            await modest_reader.readexactly(len(SHORT))
        assert await answers == LONG * LONG_REQUESTS
        greedy.close()
        modest.close()
    finally:
        listeners.close()
    return served


def test_others_are_served_between_long_requests() -> None:
    served = asyncio.run(served_beside_each_other())
    runs = [(kind, len(list(run))) for kind, run in itertools.groupby(served)]
    assert served.count(LONG) == LONG_REQUESTS
    assert max(length for kind, length in runs if kind == LONG) == 1
    assert min(length for kind, length in runs[:-1] if kind == SHORT) >= 1


async def served_after_being_alone() -> list[bytes]:
    """What was served, in order, when somebody comes while one client, alone so far, has asked for much ahead."""
    served: list[bytes] = []
    loop = asyncio.get_running_loop()
    listeners = Listeners(loop, lambda: LIMITS, lambda _: Working(served), backlog=1, send_buffer_bytes=-1)
    try:
        endpoint = listeners.listen(Endpoint("PLAINTEXT", "127.0.0.1", 0))
        greedy_reader, greedy = await asyncio.open_connection(endpoint.host, endpoint.port)
        modest_reader, modest = await asyncio.open_connection(endpoint.host, endpoint.port)
        greedy.write(frame(LONG) * LONG_REQUESTS)
        await greedy_reader.readexactly(2)
        modest.write(frame(SHORT))
        await modest_reader.readexactly(len(SHORT))
        await greedy_reader.readexactly(LONG_REQUESTS - 2)
        greedy.close()
        modest.close()
    finally:
        listeners.close()
    return served


def test_who_comes_later_need_not_wait_for_all_that_was_asked_ahead() -> None:
    served = asyncio.run(served_after_being_alone())
    assert SHORT in served[:-1]


async def closed_while_it_rests() -> None:
    served: list[bytes] = []

    def open_session(_: Connection) -> Working:
        return Working(served)

    loop = asyncio.get_running_loop()
    faults: list[object] = []
    loop.set_exception_handler(lambda _, context: faults.append(context))
    listeners = Listeners(loop, lambda: LIMITS, open_session, backlog=1, send_buffer_bytes=-1)
    endpoint = listeners.listen(Endpoint("PLAINTEXT", "127.0.0.1", 0))
    reader, writer = await asyncio.open_connection(endpoint.host, endpoint.port)
    writer.write(frame(LONG) * 2)
    assert await reader.readexactly(1) == LONG
    listeners.close()
    await asyncio.sleep(2 * TOOK_S)
    writer.close()
    assert served == [LONG]
    assert not faults


def test_a_connection_that_ends_while_it_rests_is_not_served_again() -> None:
    asyncio.run(closed_while_it_rests())


def test_who_is_alone_only_lets_the_loop_turn() -> None:
    share = FairShare()
    share.rest_s("me", TOOK_S)
    assert [share.rest_s("me", TOOK_S) for _ in range(3)] == [0, 0, 0]


def test_rests_as_long_as_it_took_when_others_are_there() -> None:
    share = FairShare()
    share.rest_s("other", 0)
    assert share.rest_s("me", TOOK_S) == TOOK_S
    share.rest_s("other", 0)
    assert share.rest_s("me", 10 * REST_S_MAX) == REST_S_MAX


def test_short_requests_never_rest() -> None:
    share = FairShare()
    turns = ("me", "other") * 10
    assert {share.rest_s(who, LONG_S / 2) for who in turns} == {None}
