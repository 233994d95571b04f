"""RedisSink: writes records to Redis. Nothing is kept back for `flush`: what is put is there.

Without redis.exactly.once a `put` that is repeated, or a task that starts again, writes records a second time; for all
types but STREAM that changes nothing. With it each `put` is a transaction that also sets the offset of each partition.
It is watched: records below the stored offset are skipped, also when another task has written them. Without it, such
offsets are deleted.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from redis.exceptions import RedisError, WatchError

from moldau.core.errors import ConfigError
from moldau.pipeline.connect.api import (
    ConnectError,
    RetriableError,
    SinkConnector,
    SinkContext,
    SinkTask,
    TopicPartition,
)
from moldau.pipeline.connect.connectors.redis.commands import TYPE_NAMES, Write, write_of
from moldau.pipeline.connect.connectors.redis.offsets import change_offsets, offset_key
from moldau.pipeline.connect.connectors.redis.server import (
    BadCommand,
    client_of,
    failure_of,
    is_lost_connection,
)
from moldau.pipeline.connect.connectors.redis.settings import DECLARATIONS, OF, RedisSettings
from moldau.pipeline.connect.data.records import SinkRecord
from moldau.pipeline.connect.declarations import ConfigValue, Texts, values_of

PIPELINE_MAX: Final = 1_000
"""Records that are sent before answers are read."""
ATTEMPTS_MAX: Final = 10
"""Of a transaction that meets another writer."""

log = logging.getLogger(__name__)

Place = tuple[str, int, int]


class RedisSinkTask(SinkTask):
    def start(self, config: Texts, context: SinkContext) -> None:
        self._settings = RedisSettings.of(config)
        self._client: Any = client_of(self._settings)
        self._context = context
        self._reported: set[Place] = set()
        """Records of the current `put`: they are not reported again when it is repeated."""
        self._without_offsets: set[TopicPartition] = set()
        """Partitions that have none in Redis, and are written without."""

    def opened(self, partitions: Sequence[TopicPartition]) -> Mapping[TopicPartition, int]:
        if not self._settings.is_exactly_once or not partitions:
            return {}
        with self._failures():
            stored = self._client.mget([self._offset_key(one) for one in partitions])
        return {one: int(end) for one, end in zip(partitions, stored, strict=True) if end is not None}

    def put(self, records: Sequence[SinkRecord]) -> None:
        with self._failures():
            if self._settings.is_exactly_once:
                self._write_once(records)
            else:
                self._forget_offsets(records)
                writes = list(self._writes(records))
                for place in range(0, len(writes), PIPELINE_MAX):
                    self._write(writes[place : place + PIPELINE_MAX])
        self._reported.clear()

    def stop(self) -> None:
        if hasattr(self, "_client"):
            self._client.close()

    def _forget_offsets(self, records: Sequence[SinkRecord]) -> None:
        """Those that redis.exactly.once=true has left get old from now on: with them, records would be written twice
        when it is true again."""
        places = {_partition(one) for one in records} - self._without_offsets
        if not places:
            return
        try:
            count = self._client.delete(*map(self._offset_key, places))
        except RedisError as error:
            if isinstance(failure_of(error, self._settings.server), RetriableError):
                raise
            # A user that may not have such keys has made none.
            log.info(
                "offsets of redis.exactly.once are not looked for in %s: %s", self._settings.server, error
            )
        else:
            if count:
                log.info("%d offsets of redis.exactly.once are deleted: it is false now", count)
        self._without_offsets |= places

    def _write(self, writes: Sequence[Write]) -> None:
        pipeline = self._client.pipeline(transaction=False)
        for write in writes:
            for command in write.commands:
                pipeline.execute_command(*command)
        self._judge(writes, pipeline.execute(raise_on_error=False))

    def _write_once(self, records: Sequence[SinkRecord]) -> None:
        ends: dict[TopicPartition, int] = {}
        for one in records:
            place = _partition(one)
            ends[place] = max(ends.get(place, 0), one.offset + 1)
        keys = {place: self._offset_key(place) for place in ends}
        if not ends:
            return
        for _ in range(ATTEMPTS_MAX):
            with self._client.pipeline(transaction=True) as transaction:
                transaction.watch(*keys.values())
                stored = dict(zip(ends, transaction.mget(list(keys.values())), strict=True))
                starts = {place: int(end or 0) for place, end in stored.items()}
                left = [one for one in records if one.offset >= starts[_partition(one)]]
                writes = self._fitting(list(self._writes(left)))
                transaction.multi()
                for write in writes:
                    for command in write.commands:
                        transaction.execute_command(*command)
                for place, end in ends.items():
                    if end > starts[place]:
                        transaction.set(keys[place], end)
                try:
                    answers = transaction.execute(raise_on_error=False)
                except WatchError as met:
                    if is_lost_connection(met):
                        raise
                    continue
            self._judge(writes, answers)
            return
        raise RetriableError(
            f"the offsets in {self._settings.server} were changed by another task {ATTEMPTS_MAX} times meanwhile"
        )

    def _writes(self, records: Iterable[SinkRecord]) -> Iterator[Write]:
        for record in records:
            try:
                yield write_of(record, self._settings)
            except ConnectError as unfit:
                self._report(record, unfit)

    def _fitting(self, writes: Sequence[Write]) -> Sequence[Write]:
        """Without those whose key has another type: a transaction of Redis is not undone when one command fails."""
        wanted = TYPE_NAMES.get(self._settings.kind)
        keys = list({write.key for write in writes})
        if wanted is None or not keys:
            return writes
        pipeline = self._client.pipeline(transaction=False)
        for key in keys:
            pipeline.type(key)
        found = dict(zip(keys, (one.decode() for one in pipeline.execute()), strict=True))
        fitting = []
        for write in writes:
            kind = found[write.key]
            if kind in ("none", wanted) or write.commands[:1] == [("DEL", write.key)]:
                fitting.append(write)
            else:
                error = BadCommand(
                    f"{self._settings.server} has a {kind} under the key {write.key.decode(errors='replace')}, and "
                    f"redis.type={self._settings.kind}: delete the key, or change redis.keyspace"
                )
                self._report(write.record, error)
        return fitting

    def _judge(self, writes: Sequence[Write], answers: Sequence[Any]) -> None:
        """The answers are in the order of the commands."""
        left = iter(answers)
        for write in writes:
            errors = [one for one in [next(left) for _ in write.commands] if isinstance(one, RedisError)]
            if not errors:
                continue
            failure = failure_of(errors[0], self._settings.server)
            if not isinstance(failure, BadCommand):
                raise failure
            self._report(write.record, failure)

    def _report(self, record: SinkRecord, error: Exception) -> None:
        place = *_partition(record), record.offset
        if place not in self._reported:
            self._context.report(record, error)
            self._reported.add(place)

    def _offset_key(self, place: TopicPartition) -> str:
        return offset_key(self._settings, place)

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except RedisError as error:
            raise failure_of(error, self._settings.server, is_tls=self._settings.is_tls) from error


class RedisSinkConnector(SinkConnector):
    declarations = DECLARATIONS
    task_class = RedisSinkTask
    aliases = ("RedisSink", "Redis", "com.redis.kafka.connect.RedisSinkConnector")

    def start(self, config: Texts) -> None:
        """A wrong password is known at once. A server that is away is waited for by the tasks."""
        settings = RedisSettings.of(config)
        super().start(config)
        client: Any = client_of(settings)
        try:
            client.ping()
        except RedisError as error:
            failure = failure_of(error, settings.server, is_tls=settings.is_tls)
            if not isinstance(failure, RetriableError):
                raise failure from error
            log.warning("%s", failure)
        finally:
            client.close()

    @classmethod
    def check(cls, config: Texts) -> Sequence[ConfigValue]:
        try:
            values_of(DECLARATIONS, config, of=OF)
        except ConfigError:
            # What is wrong with a single setting is reported with it.
            return ()
        try:
            RedisSettings.of(config)
        except ConfigError as wrong:
            text = str(wrong)
            names = [one.name for one in DECLARATIONS if one.name in text]
            # The first one in the text, and the longest of those that begin alike.
            name = min(names, key=lambda one: (text.index(one), -len(one)), default="redis.uri")
            return [ConfigValue(name, config.get(name), errors=[text])]
        return ()

    @classmethod
    def alter_offsets(
        cls, config: Texts, offsets: Mapping[TopicPartition, int | None], *, is_reset: bool
    ) -> None:
        """With redis.exactly.once those in Redis count."""
        settings = RedisSettings.of(config)
        if not settings.is_exactly_once:
            return
        client: Any = client_of(settings)
        try:
            change_offsets(client, settings, offsets, is_reset=is_reset)
        except RedisError as error:
            raise failure_of(error, settings.server, is_tls=settings.is_tls) from error
        finally:
            client.close()


def _partition(record: SinkRecord) -> TopicPartition:
    return TopicPartition(record.original_topic or record.topic, record.original_partition)
