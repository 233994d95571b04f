"""What the driver sends to a worker for a batch, and what the worker reports. Plain data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from moldau.pipeline.spark.positions import OffsetRange


class TaskId(NamedTuple):
    """As in Kafka Streams: `0_3` is sub-topology 0 on partition 3."""

    part: int
    partition: int

    def __str__(self) -> str:
        return f"{self.part}_{self.partition}"


@dataclass(frozen=True)
class Application:
    """What a worker must know about an application. The same for all its batches."""

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
    """Store to changelog topic."""
    run_id: str
    """New with each start of the query, so that a worker does not use what it kept from an earlier run."""
    record_cache: bool = True
    partitioners: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """Topic to partitioner and number of partitions, for topics that do not use the client's default."""
    record_ms_max: int = 300_000
    transform_inputs: Mapping[str, int] = field(default_factory=dict)
    """The topics before functions of DataFrames, with their number of partitions."""
    state_folders: tuple[str, ...] = ()
    """Folder of each sub-topology, by its index. A sub-topology beyond the end uses its index."""
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
    """Stream time advances to this without input."""
    rests: bool = False
    """There is nothing more to read after this batch."""
    is_last: bool = False
    """The run has ended: the worker closes what it kept for it."""
    holder: str = ""
    """The process that ran the slot's previous batch. Another process that kept the slot does not own it any more."""


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
    """The error handlers of the topology chose to fail: no retry."""
    sizes: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Topic to records and bytes read."""
    due_ms: dict[str, int | None] = field(default_factory=dict)
    """Task to the time of its next wall-clock timer. None: it has none."""
    dropped: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    """(operator, reason) to the number of dropped records and the largest lateness in milliseconds."""
    newest_ms: int = -1
    """The time of the newest record read."""
    phase_ms: dict[str, float] = field(default_factory=dict)
    transform_ms: dict[str, float] = field(default_factory=dict)
    """Of a function of DataFrames, which the driver runs: its name, and how long the batch took."""
