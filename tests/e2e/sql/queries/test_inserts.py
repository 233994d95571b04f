"""Inserted rows, over a real broker."""

import asyncio

import pytest

from e2e.sql.queries.world import World, read, read_async
from moldau.pipeline.sql.syntax.errors import SqlError

VIEWS = "CREATE STREAM VIEWS (USERID STRING KEY, PAGE STRING, MS INTEGER) WITH (KAFKA_TOPIC='{}', VALUE_FORMAT='JSON')"


async def test_rows_are_there_when_the_insert_returns(world: World) -> None:
    views = world.define(VIEWS.format("insert-rows"), 3)
    stream = await asyncio.to_thread(world.start, "SELECT USERID, MS, ROWTIME FROM VIEWS EMIT CHANGES;")
    await world.host.inserts.insert(views, ("u1",), ("p", 1), 1_000_000)
    await world.host.inserts.insert(views, None, ("p", 2), 1_000_001)
    found = await read_async(stream, 2)
    assert sorted(found, key=lambda row: row[1]) == [("u1", 1, 1_000_000), (None, 2, 1_000_001)]
    stream.close()


async def test_thousands_may_be_outstanding(world: World) -> None:
    views = world.define(VIEWS.format("insert-many"), 3)
    await asyncio.gather(*(world.host.inserts.send(views, (f"u{n}",), ("p", n), n + 1) for n in range(5_000)))
    stream = await asyncio.to_thread(world.start, "SELECT MS FROM VIEWS;")
    assert sorted(await asyncio.to_thread(read, stream)) == [(n,) for n in range(5_000)]


async def test_what_cannot_be_written_says_why(world: World) -> None:
    views = world.define(VIEWS.format("insert-gone"))
    world.delete_topic("insert-gone")
    with pytest.raises(SqlError, match="the topic insert-gone of VIEWS does not exist"):
        await world.host.inserts.insert(views, None, ("p", 1), 1)
    world.host.inserts.close()
    with pytest.raises(SqlError, match="stopping"):
        await world.host.inserts.insert(views, None, ("p", 1), 1)
