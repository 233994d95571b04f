"""What the user says about how an application runs: where, how much at a time, with which promise."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from moldau.core.errors import ConfigError

Latency = Literal["micro_batch", "real_time"]


@dataclass(frozen=True)
class AppSettings:
    """`instances` 0: as many worker slots as Spark has cores. `client_settings` are librdkafka's keys for every
    client; with `consumer.` or `producer.` in front for one kind alone, with `connector.` Java's keys for Spark's
    connector. `record_cache`: an aggregate tells one change per key and batch, the last, as Kafka Streams does with its
    record cache; off, every change. `latency` real_time: Spark's Real-Time Mode, for a chain of expressions built
    at least once; what it cannot run is refused with the reason. Its output carries the time of its writing."""

    application_id: str
    bootstrap_servers: str
    checkpoint_dir: str = "checkpoints"
    instances: int = 0
    trigger_ms: int = 100
    records_per_batch_max: int = 400_000
    record_cache: bool = True
    dead_letters: bool = True
    dead_letter_topic: str = ""
    changelogs: Literal["queryable", "all", "none"] = "queryable"
    latency: Latency = "micro_batch"
    client_settings: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.application_id:
            raise ConfigError("an application needs an id: it names its group, its topics and its checkpoint")
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
