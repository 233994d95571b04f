"""What the driver asks of a worker for one batch, and what the worker answers. Plain data that travels both ways."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from moldau.pipeline.spark.positions import OffsetRange


class TaskId(NamedTuple):
    """Kafka Streams' words: `0_3` is sub-topology 0 on partition 3."""

    part: int
    partition: int

    def __str__(self) -> str:
        return f"{self.part}_{self.partition}"


@dataclass(frozen=True)
class Application:
    """What a worker must know of an application, the same for all its batches."""

    application_id: str
    checkpoint_id: str
    bootstrap_servers: str
    client_settings: Mapping[str, str]
    exactly_once: bool
    dead_letter_topic: str | None
    state_folder: str
    topology: bytes
    """Pickled by value: the user's functions need not be importable where the worker runs."""
    changelogs: Mapping[str, str]
    """Store to the topic that its changes are written to."""
    run_id: str
    """New with each start of the query: what a worker kept from the run before is not used."""
    record_cache: bool = True
    partitioners: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """Topic to how keys are spread over it and its number of partitions, where the client's own way is not meant."""
    record_ms_max: int = 300_000
    state_folders: tuple[str, ...] = ()
    """Of the sub-topologies by their index; one that is not among them uses its index."""
    state_begins: Mapping[str, int] = field(default_factory=dict)
    """Store or operator to the first batch whose state counts."""

    def folder_of(self, task: TaskId) -> str:
        number = task.part
        folder = self.state_folders[number] if number < len(self.state_folders) else str(number)
        return f"{folder}_{task.partition}"


@dataclass(frozen=True)
class TaskOrder:
    task: TaskId
    ranges: tuple[OffsetRange, ...]


@dataclass(frozen=True)
class SlotOrder:
    application: Application
    slot: int
    batch_id: int
    tasks: tuple[TaskOrder, ...]
    clock_ms: int = 0
    """The batch's wall clock; 0: now."""
    advance_ms: int | None = None
    """Stream time goes on to this without input."""
    rests: bool = False
    """Nothing more is there to be read."""
    is_last: bool = False
    """The application rests: the worker closes what it has kept for it."""
    holder: str = ""
    """The process that ran the slot's batch before this one. Any other that has kept the slot is not its owner now."""


@dataclass
class SlotReport:
    slot: int
    holder: str = ""
    """The process that ran it."""
    records_in: int = 0
    records_out: int = 0
    records_dead: int = 0
    tasks_skipped: int = 0
    error: str | None = None
    """Why nothing of the order was committed, as `Kind: message`."""
    is_final: bool = False
    """The error handlers of the topology chose to fail: it is not tried again."""
    sizes: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Topic to records and bytes read."""
    due_ms: dict[str, int | None] = field(default_factory=dict)
    """Task to when its wall-clock timers want to be called next."""
    dropped: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    """(operator, reason) to how many records it did not take, and the latest of them in milliseconds."""
    newest_ms: int = -1
    """The time of the newest record read."""
    phase_ms: dict[str, float] = field(default_factory=dict)
