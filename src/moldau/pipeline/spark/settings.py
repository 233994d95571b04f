"""What the user says about how an application runs: where, how much at a time, with which promise."""

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
            f"the application id {shown!r} cannot be part of a topic's name: use letters, digits, '.', '_' and '-', at "
            "most 200 of them"
        )


@dataclass(frozen=True)
class AppSettings:
    """What each setting means:

    - `instances`: worker slots; 0: as many as Spark has cores.
    - `trigger_ms`: how often small batches are run. A batch that leaves something is followed by the next at once.
    - `records_per_batch_max`, `bytes_per_batch_max`: what a batch reads of the user's topics at most.
    - `max_task_idle_ms` as in Kafka Streams: how long an empty partition is waited for, when one it is joined with has
      records.
    - `close_idle_ms`: after so long without input stream time goes on with the clock, so that windows close and
      suppressed results are told. None: only records move it.
    - `record_ms_max`: a function that takes longer for one record has failed.
    - `record_cache`: an aggregate tells one change per key and batch, the last, as Kafka Streams does with its record
      cache on; off, every change.
    - `latency`: `real_time` is Spark's Real-Time Mode, for a chain of expressions built at least once; what it cannot
      run is refused with the reason. Its output carries the time of its writing.
    - `partitioners`: topic to the name of the partitioner its producers used, or an internal topic is to use, where
      its records do not tell.
    - `on_change`: when the topology has changed, what becomes of state that it does not keep. `refuse`: the application
      does not start, and says what it is; `drop`: it is let go; `keep`: a changed store goes on with what it holds.
    - `client_settings`: librdkafka's keys for every client; with `consumer.` or `producer.` in front for one kind
      alone, with `connector.` Java's keys for Spark's connector.
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
                "close_idle_ms must be at least 1; leave it out and only records move stream time"
            )
        if self.records_per_batch_max < 1 or self.trigger_ms < 0 or self.instances < 0:
            raise ConfigError(
                "records_per_batch_max must be at least 1, trigger_ms and instances must not be negative"
            )

    @property
    def folder(self) -> str:
        """Of this application alone."""
        root = (
            self.checkpoint_dir if "://" in self.checkpoint_dir else str(Path(self.checkpoint_dir).absolute())
        )
        return f"{root.rstrip('/')}/{self.application_id}"

    @property
    def dead_letters_go_to(self) -> str | None:
        if not self.dead_letters:
            return None
        return self.dead_letter_topic or f"{self.application_id}-dlq"
