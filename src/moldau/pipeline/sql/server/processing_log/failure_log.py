"""Failed expressions of one query, written to the processing log: in the server, and in Spark's workers."""

import logging
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import KafkaException, Producer

from moldau.pipeline.sql.server.processing_log.entries import failed_expression

log = logging.getLogger("moldau.sql")


@dataclass(frozen=True)
class FailureLog:
    """Writes failed expressions of one query to the log's topic. May be pickled: each process has one producer."""

    servers: str
    topic: str
    query_id: str
    client_settings: Mapping[str, str] = field(default_factory=dict, hash=False)
    with_rows: bool = False

    def __call__(self, text: str, failure: Exception, row: Any) -> None:
        now_ms = int(time.time() * 1000)
        content = failed_expression(self.query_id, text, failure, row, now_ms, with_row=self.with_rows)
        producer = _producer(self.servers, tuple(sorted(self.client_settings.items())))
        try:
            producer.produce(self.topic, content)
            producer.poll(0)
        except (BufferError, KafkaException) as full:
            # Failures may come faster than they can be written. The query matters more.
            log.warning("a failure of %s is not in the processing log (%s): %s", self.query_id, full, failure)


_producers: dict[tuple[str, tuple[tuple[str, str], ...]], Producer] = {}
_making = threading.Lock()


def _producer(servers: str, settings: tuple[tuple[str, str], ...]) -> Producer:
    with _making:
        found = _producers.get((servers, settings))
        if found is None:
            found = Producer({**dict(settings), "bootstrap.servers": servers, "linger.ms": 50, "logger": log})
            _producers[servers, settings] = found
        return found
