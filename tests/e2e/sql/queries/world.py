"""Streams and tables over topics of a real broker, and a host of queries."""

import asyncio
import json
from typing import Any

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.engine import Catalog, Facts, Session, TopicFacts, decide, needs
from moldau.pipeline.sql.functions.library import builtin
from moldau.pipeline.sql.queries import PullSettings, QueryHost, RowStream
from moldau.pipeline.sql.syntax.parser import parse

WAIT_S = 60.0


class World:
    def __init__(self, bootstrap: str, **options: Any) -> None:
        self.bootstrap = bootstrap
        self.host = QueryHost(bootstrap, **options)
        self.functions = builtin()
        self.defined = Catalog(self.functions)
        self.admin = AdminClient({"bootstrap.servers": bootstrap})
        self.producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": "0"})

    def topic(self, name: str, partitions: int = 1) -> None:
        self.admin.create_topics([NewTopic(name, partitions, 1)])[name].result(WAIT_S)

    def delete_topic(self, name: str) -> None:
        self.admin.delete_topics([name])[name].result(WAIT_S)

    def define(self, statement: str, partitions: int = 1) -> SourceInfo:
        """A stream or table by its CREATE, and its topic if there is none."""
        parsed = parse(statement)[0]
        topic = next(iter(needs(parsed.statement, self.defined).topics))
        if topic not in self.admin.list_topics(timeout=WAIT_S).topics:
            self.topic(topic, partitions)
        facts = Facts({topic: TopicFacts(partitions)})
        decision = decide(parsed.text, parsed.statement, self.defined, Session(), facts, self.functions)
        assert decision.command is not None
        applied = self.defined.replay(decision.command, self.defined.next_offset)
        assert applied.change is not None, applied.message
        return applied.change.sources[0]

    def write(self, topic: str, *records: tuple[str | bytes | None, Any] | tuple[Any, Any, int]) -> None:
        """(key, value) or (key, value, time); values become JSON, None and bytes stay."""
        for key, value, *more in records:
            data = value if value is None or isinstance(value, bytes) else json.dumps(value).encode()
            self.producer.produce(topic, data, key, timestamp=more[0] if more else 0)
        assert self.producer.flush(WAIT_S) == 0

    def start(
        self, query: str, *, offset_reset: str | None = None, settings: PullSettings | None = None
    ) -> RowStream:
        given = settings or PullSettings(wait_s_max=WAIT_S)
        prepared = self.host.prepare(query, self.defined, given)
        return self.host.start(prepared, offset_reset=offset_reset, settings=given)

    def rows(self, query: str, count: int | None = None, **more: Any) -> list[tuple[Any, ...]]:
        """The first rows of a push query, or all rows of a query that ends."""
        stream = self.start(query, **more)
        try:
            return read(stream, count)
        finally:
            stream.close()

    def close(self) -> None:
        self.host.close()


def read(stream: RowStream, count: int | None = None, timeout_s: float = WAIT_S) -> list[tuple[Any, ...]]:
    """So many rows, or all of them up to the end."""
    found: list[tuple[Any, ...]] = []
    while count is None or len(found) < count:
        rows = stream.read(timeout_s)
        if rows is None:
            break
        assert rows, f"only {len(found)} rows within {timeout_s} s: {found[-3:]}"
        found += rows
    if stream.end is not None and stream.end.error is not None:
        raise stream.end.error
    return found


async def read_async(stream: RowStream, count: int) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    async with asyncio.timeout(WAIT_S):
        async for rows in stream:
            found += rows
            if len(found) >= count:
                return found
    return found
