"""The task of the heartbeat connector: a record with the time, again and again, in the target's topic of heartbeats."""

import time
from collections.abc import Sequence
from typing import Final

from confluent_kafka import KafkaException, Producer

from moldau.pipeline.connect.api import RetriableError, SourceContext, SourceTask
from moldau.pipeline.connect.connectors.mirror.client_settings import client_settings
from moldau.pipeline.connect.connectors.mirror.cluster import made
from moldau.pipeline.connect.connectors.mirror.formats import Heartbeat
from moldau.pipeline.connect.connectors.mirror.intervals import Interval
from moldau.pipeline.connect.connectors.mirror.replication_policy import HEARTBEATS
from moldau.pipeline.connect.connectors.mirror.settings import HEARTBEAT, parse
from moldau.pipeline.connect.data.records import OPTIONAL_BYTES, SourceRecord
from moldau.pipeline.connect.declarations import Texts

REST_MS_MAX: Final = 1_000
WRITTEN_S_MAX: Final = 30.0


class MirrorHeartbeatTask(SourceTask):
    def start(self, config: Texts, context: SourceContext) -> None:
        values = parse(HEARTBEAT, config, of="MirrorHeartbeatConnector")
        self._source: str = values["source.cluster.alias"]
        self._target: str = values["target.cluster.alias"]
        self._interval = Interval(values["emit.heartbeats.interval.seconds"])
        self._producer: Producer | None = None
        if values["emit.heartbeats.directly"]:
            self._producer = made(Producer, client_settings(config, "target", "producer"))

    def poll(self) -> Sequence[SourceRecord]:
        if not self._interval.take(time.monotonic()):
            return ()
        now_ms = time.time_ns() // 1_000_000
        beat = Heartbeat(self._source, self._target, now_ms)
        if self._producer is None:
            return [self._record(beat)]
        try:
            self._producer.produce(HEARTBEATS, beat.value(), beat.key(), 0, timestamp=now_ms)
        except (BufferError, KafkaException) as failure:
            raise RetriableError(f"a heartbeat cannot be written to {self._target}: {failure}") from failure
        self._producer.poll(0)
        return ()

    def next_poll_ms(self) -> int:
        return min(REST_MS_MAX, int(self._interval.left_s(time.monotonic()) * 1_000) + 1)

    def stop(self) -> None:
        if getattr(self, "_producer", None) is not None:
            assert self._producer is not None
            self._producer.flush(WRITTEN_S_MAX)

    def _record(self, beat: Heartbeat) -> SourceRecord:
        return SourceRecord(
            HEARTBEATS,
            key=beat.key(),
            value=beat.value(),
            key_schema=OPTIONAL_BYTES,
            value_schema=OPTIONAL_BYTES,
            partition=0,
            timestamp_ms=beat.timestamp_ms,
            source_partition={"sourceClusterAlias": self._source, "targetClusterAlias": self._target},
            source_offset={"offset": 0},
        )
