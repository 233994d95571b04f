"""The settings of an application: where it runs, how much a batch reads, which guarantee it gives."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from moldau.core.errors import ConfigError

LEGAL_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,200}")
SHOWN_MAX: Final = 60
Latency = Literal["micro_batch", "real_time"]
OnChange = Literal["refuse", "drop", "keep"]


def require_legal_id(application_id: str) -> None:
    if not application_id:
        raise ConfigError("an application needs an id: it names its group, its topics and its checkpoint")
    if not LEGAL_ID.fullmatch(application_id) or application_id in (".", ".."):
        shown = application_id if len(application_id) <= SHOWN_MAX else f"{application_id[:SHOWN_MAX]}..."
        raise ConfigError(
            f"the application id {shown!r} cannot be part of a topic name: use letters, digits, '.', '_' and '-', at "
            "most 200 characters"
        )


@dataclass(frozen=True)
class AppSettings:
    """The settings that are not obvious:

    - `instances`: worker slots; 0: as many as Spark has cores.
    - `trigger_ms`: how often small batches run. After a batch that leaves records unread, the next follows at once.
    - `records_per_batch_max`, `bytes_per_batch_max`: how much a batch reads from the user's topics at most.
    - `max_task_idle_ms`: as in Kafka Streams, how long to wait for an empty partition when a partition that it is
      joined with has records.
    - `close_idle_ms`: after this long without input, stream time advances with the clock, so that windows close and
      suppressed results are emitted. None: only records advance it.
    - `record_ms_max`: a function that takes longer for one record has failed, and so has a `transform` that takes
      longer for one batch.
    - `record_cache`: an aggregate emits only the last change per key and batch, as Kafka Streams does with its record
      cache. Off: every change.
    - `latency`: `real_time` is Spark's Real-Time Mode, for a chain of expressions with at-least-once delivery. What it
      cannot run is rejected with the reason. Its output has the time of writing as timestamp.
    - `partitioners`: topic to the name of a partitioner: the one that its producers used, where its records do not show
      it, or the one that an internal topic is to use.
    - `on_change`: what happens to state that a changed topology does not keep. `refuse`: the application does not
      start, and says what would be lost; `drop`: the state is dropped; `keep`: a changed store keeps its content.
    - `client_settings`: librdkafka's keys for every client. The prefix `consumer.` or `producer.` is for one kind only,
      `connector.` for the Java keys of Spark's connector.
    """

    application_id: str
    bootstrap_servers: str
    checkpoint_dir: str = "checkpoints"
    instances: int = 0
    trigger_ms: int = 100
    records_per_batch_max: int = 400_000
    bytes_per_batch_max: int = 64 << 20
    max_task_idle_ms: int = 0
    close_idle_ms: int | None = None
    record_ms_max: int = 300_000
    record_cache: bool = True
    dead_letters: bool = True
    dead_letter_topic: str = ""
    changelogs: Literal["queryable", "all", "none"] = "queryable"
    latency: Latency = "micro_batch"
    partitioners: Mapping[str, str] = field(default_factory=dict)
    on_change: OnChange = "refuse"
    client_settings: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_legal_id(self.application_id)
        if self.bytes_per_batch_max < 1 or self.max_task_idle_ms < 0 or self.record_ms_max < 1:
            raise ConfigError(
                "bytes_per_batch_max and record_ms_max must be at least 1, max_task_idle_ms must not be negative"
            )
        if self.close_idle_ms is not None and self.close_idle_ms < 1:
            raise ConfigError(
                "close_idle_ms must be at least 1; leave it out and only records advance stream time"
            )
        if self.records_per_batch_max < 1 or self.trigger_ms < 0 or self.instances < 0:
            raise ConfigError(
                "records_per_batch_max must be at least 1, trigger_ms and instances must not be negative"
            )

    @property
    def folder(self) -> str:
        """The checkpoint folder of this application."""
        root = (
            self.checkpoint_dir if "://" in self.checkpoint_dir else str(Path(self.checkpoint_dir).absolute())
        )
        return f"{root.rstrip('/')}/{self.application_id}"

    @property
    def dead_letters_go_to(self) -> str | None:
        if not self.dead_letters:
            return None
        return self.dead_letter_topic or f"{self.application_id}-dlq"
