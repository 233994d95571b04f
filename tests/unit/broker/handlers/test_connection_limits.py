"""How many connections come in, and how quickly: by listener, by address, and by the quotas of addresses."""

import asyncio
from collections.abc import Callable

import pytest
from admin_rig import Rig

from moldau.coordination.security.entity_nodes import ADDRESS, EntityPart
from moldau.core.errors import ConfigError
from moldau.net.connection import Chunk
from moldau.net.listener import Endpoint, Listeners
from moldau.node.connection_limits import BrokerConnectionLimits, parse_overrides

WAIT_S = 60
HOST = "127.0.0.1"


class Greeting:
    """Answers whoever asks."""

    def on_frame(self, frame: memoryview) -> list[Chunk] | None:
        return [b"!"]

    def closed(self) -> None: ...


def limits_of(rig: Rig) -> BrokerConnectionLimits:
    return BrokerConnectionLimits(
        lambda: rig.broker.configs.broker, rig.broker.security, rig.clock.monotonic_ms
    )


async def admitted(rig: Rig, count: int, *names: str) -> int:
    """How many of so many connections to the listeners, in turn, stay open."""
    loop = asyncio.get_running_loop()
    limits = limits_of(rig)
    listeners = Listeners(
        loop, limits.current, lambda _: Greeting(), backlog=100, send_buffer_bytes=-1, rates=limits
    )
    try:
        ports = [listeners.listen(Endpoint(name, HOST, 0)).port for name in names]
        clients = [await asyncio.open_connection(HOST, ports[number % len(ports)]) for number in range(count)]
        async with asyncio.timeout(WAIT_S):
            answers = [await asks(reader, writer) for reader, writer in clients]
        for _, writer in clients:
            writer.close()
        return sum(answers)
    finally:
        listeners.close()


async def asks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Whether the connection is served."""
    try:
        writer.write(b"\0\0\0\1?")
        return await reader.read(1) == b"!"
    except ConnectionError:
        return False


def test_a_listener_and_an_address_have_limits_of_their_own(rig_with: Callable[[str], Rig]) -> None:
    two = rig_with(
        "listeners=A://:0,B://:1\nlistener.security.protocol.map=A:PLAINTEXT,B:PLAINTEXT\n"
        "listener.name.a.max.connections=2\n"
    )
    assert asyncio.run(admitted(two, 10, "A", "B")) == 2 + 5
    assert asyncio.run(admitted(rig_with("max.connections.per.ip=3"), 10, "PLAINTEXT")) == 3
    exception = rig_with("max.connections.per.ip=3\nmax.connections.per.ip.overrides=127.0.0.1:5,10.0.0.1:1")
    assert asyncio.run(admitted(exception, 10, "PLAINTEXT")) == 5


def test_the_rate_of_a_listener_and_of_the_broker(rig_with: Callable[[str], Rig]) -> None:
    rig = rig_with(
        "listeners=A://:0,B://:1\nlistener.security.protocol.map=A:PLAINTEXT,B:PLAINTEXT\n"
        "max.connection.creation.rate=10\nlistener.name.a.max.connection.creation.rate=5\n"
    )
    limits = limits_of(rig)
    # Kafka's average is over ten seconds and what has begun of the eleventh.
    waits = [limits.listener_wait_ms("A") for _ in range(51)]
    assert waits[:50] == [0] * 50 and waits[50] > 0
    waits = [limits.listener_wait_ms("B") for _ in range(50)]
    assert waits[:49] == [0] * 49 and waits[49] > 0
    rig.clock.advance(60_000)
    assert limits.listener_wait_ms("A") == 0


def test_the_rate_of_an_address(rig: Rig) -> None:
    limits = limits_of(rig)
    assert [limits.address_wait_ms("10.0.0.1") for _ in range(1000)] == [0] * 1000
    for name, rate in (("10.0.0.1", "1"), (None, "2")):
        entity = (EntityPart(ADDRESS, name),)
        asyncio.run(
            rig.broker.security.write_entity(entity, lambda _, rate=rate: {"connection_creation_rate": rate})
        )  # type: ignore[misc]
    assert sum(limits.address_wait_ms("10.0.0.1") == 0 for _ in range(100)) == 10
    assert sum(limits.address_wait_ms("10.0.0.2") == 0 for _ in range(100)) == 20
    rig.clock.advance(60_000)
    assert limits.address_wait_ms("10.0.0.1") == 0


def test_one_that_comes_too_quickly_is_closed_later(rig: Rig) -> None:
    async def last_is_closed() -> bool:
        entity = (EntityPart(ADDRESS, HOST),)
        await rig.broker.security.write_entity(entity, lambda _: {"connection_creation_rate": "10"})
        limits = limits_of(rig)
        while limits.address_wait_ms(HOST) == 0:
            pass
        loop = asyncio.get_running_loop()
        listeners = Listeners(
            loop, limits.current, lambda _: Greeting(), backlog=1, send_buffer_bytes=-1, rates=limits
        )
        try:
            port = listeners.listen(Endpoint("PLAINTEXT", HOST, 0)).port
            reader, writer = await asyncio.open_connection(HOST, port)
            async with asyncio.timeout(WAIT_S):
                closed = await reader.read(1) == b""
            writer.close()
            return closed and not listeners.connections
        finally:
            listeners.close()

    assert asyncio.run(last_is_closed())


@pytest.mark.parametrize("text", ["127.0.0.1", "127.0.0.1:x", ":5"])
def test_wrong_overrides_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"max\.connections\.per\.ip\.overrides"):
        parse_overrides(text)


def test_overrides_name_addresses_of_both_kinds() -> None:
    assert parse_overrides("127.0.0.1:5, [::1]:7") == {"127.0.0.1": 5, "::1": 7}
