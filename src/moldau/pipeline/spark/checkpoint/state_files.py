"""The state of one task on disk, one version per batch: a delta has the changes of the batch, a snapshot
(`<batch>.snapshot`) the whole state after it. Both are Arrow IPC with the columns store, key, value.

The name of a delta says which version it follows: `<batch>.after-<version before>.delta`, or `<batch>.first.delta` for
the first one of a task. So a missing file is noticed from the names alone. (`<batch>.delta`, an earlier format, does
not say it.)

A version is written before its batch is committed to Kafka. A batch that is run again starts from the version before
it and replaces its own version. Old versions are removed once two snapshots cover them.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

import pyarrow as pa
from pyarrow import ipc

from moldau.core.errors import MoldauError
from moldau.pipeline.operators.state import Delta
from moldau.pipeline.spark.checkpoint.folder import Folder
from moldau.pipeline.spark.checkpoint.kept_state import KeptState

SCHEMA: Final = pa.schema(
    [("store", pa.dictionary(pa.int32(), pa.string())), ("key", pa.binary()), ("value", pa.binary())]
)
DELTAS_PER_SNAPSHOT_MAX: Final = 200
SNAPSHOT_BYTES_MIN: Final = 1 << 20
"""A snapshot is due when the deltas together are larger than the last snapshot, and than this."""
SNAPSHOTS_KEPT: Final = 2
START: Final = -1
"""The version before the first batch: no state."""
CURE: Final = "restore the checkpoint, or reset the application to build its state again from its topics"


class StateLost(MoldauError):
    """A file of the state is missing or damaged."""


class File(NamedTuple):
    name: str
    version: int
    is_snapshot: bool
    after: int | None
    """The version that a delta follows. None if its name does not say it."""

    @classmethod
    def parse(cls, name: str) -> "File":
        version, *middle, kind = name.split(".")
        link = middle[0] if middle else ""
        after = START if link == "first" else int(link.removeprefix("after-")) if link else None
        return cls(name, int(version), kind == "snapshot", after)


class StateFiles:
    def __init__(self, folder: Folder, kept: KeptState | None = None) -> None:
        self._folder = folder
        self._kept = kept
        self._delta_bytes = 0
        self._delta_count = 0
        self._snapshot_bytes = 0
        self._before: int | None = None
        """The version that the next delta follows, once it is known."""

    def changes(self, after_version: int, before_version: int) -> tuple[bool, list[Delta]]:
        """The changes from one version to the one before `before_version`, and whether they start with a snapshot, so
        that the reader must clear its state first. Raises StateLost if a file in between is missing."""
        files = [file for file in self._files() if file.version < before_version]
        snapshot = max((file.version for file in files if file.is_snapshot), default=START)
        # Files before a snapshot may have been removed: a reader older than the snapshot must start there.
        whole = after_version == START or after_version >= before_version or snapshot > after_version
        found: list[Delta] = []
        reached = snapshot if whole else after_version
        if whole and snapshot != START:
            found += self._read(File(f"{snapshot}.snapshot", snapshot, True, None))
        for file in files:
            if not file.is_snapshot and file.version > reached:
                self._require_link(file, reached)
                found += self._read(file)
                reached = file.version
        self._before = reached
        return whole, found

    def last_version(self) -> int:
        """START if there is none. Raises StateLost if the versions have a gap."""
        files = self._files()
        reached = max((file.version for file in files if file.is_snapshot), default=START)
        for file in files:
            if not file.is_snapshot and file.version > reached:
                self._require_link(file, reached)
                reached = file.version
        return reached

    def write_delta(self, version: int, deltas: Iterable[Delta]) -> None:
        content = _encoded(list(deltas))
        before = self._version_before(version)
        link = "first" if before == START else f"after-{before}"
        self._folder.write(f"{version}.{link}.delta", content)
        self._before = version
        self._delta_bytes += len(content)
        self._delta_count += 1

    @property
    def wants_snapshot(self) -> bool:
        outgrown = self._delta_bytes > max(SNAPSHOT_BYTES_MIN, self._snapshot_bytes)
        return outgrown or self._delta_count >= DELTAS_PER_SNAPSHOT_MAX

    def write_snapshot(self, version: int, items: Iterable[Delta]) -> None:
        """Only for a version whose batch is committed: nobody will need an earlier one."""
        content = _encoded(list(items))
        self._folder.write(f"{version}.snapshot", content)
        self._snapshot_bytes, self._delta_bytes, self._delta_count = len(content), 0, 0
        self._remove_old()

    def remove_from(self, version: int) -> None:
        """Removes the files of a batch that is not committed and will not be run again under its number."""
        for file in self._files():
            if file.version >= version:
                self._folder.remove(file.name)

    def _version_before(self, version: int) -> int:
        """The version that was read last. For a batch that is written again: the one that was read before it."""
        if self._before is None or self._before >= version:
            self._before = max(
                (file.version for file in self._files() if file.version < version), default=START
            )
        return self._before

    def _remove_old(self) -> None:
        files = self._files()
        snapshots = [file.version for file in files if file.is_snapshot]
        if len(snapshots) <= SNAPSHOTS_KEPT:
            return
        oldest_kept = snapshots[-SNAPSHOTS_KEPT]
        for file in files:
            if file.version < oldest_kept or (not file.is_snapshot and file.version == oldest_kept):
                self._folder.remove(file.name)

    def _files(self) -> list[File]:
        """In the order of their versions. If a batch has a delta in each format, the one whose name says more."""
        files = (File.parse(name) for name in self._folder.names())
        return sorted(files, key=lambda file: (file.version, file.after is None))

    def _require_link(self, file: File, reached: int) -> None:
        if file.after is None or file.after == reached:
            return
        there = (
            "there is nothing before it" if reached == START else f"the one before it is version {reached}"
        )
        raise StateLost(
            f"the state {self._folder.address} has a gap: {file.name} follows version {file.after}, but {there}: "
            f"{CURE}"
        )

    def _read(self, file: File) -> list[Delta]:
        content = self._folder.read(file.name)
        if content is None:
            raise StateLost(f"the state file {self._folder.address}/{file.name} is missing: {CURE}")
        try:
            table = ipc.open_file(pa.BufferReader(content)).read_all()
        except pa.ArrowInvalid as damaged:
            raise StateLost(
                f"the state file {self._folder.address}/{file.name} is damaged ({damaged}): {CURE}"
            ) from None
        columns = (table.column(name).to_pylist() for name in SCHEMA.names)
        deltas: list[Delta] = list(zip(*columns, strict=True))
        return deltas if self._kept is None else self._kept.of(file.version, deltas)


def _encoded(deltas: list[Delta]) -> bytes:
    stores = pa.array([delta[0] for delta in deltas], pa.string()).dictionary_encode()
    keys = pa.array([delta[1] for delta in deltas], pa.binary())
    values = pa.array([delta[2] for delta in deltas], pa.binary())
    sink = pa.BufferOutputStream()
    with ipc.new_file(sink, SCHEMA) as writer:
        writer.write_table(pa.table([stores, keys, values], schema=SCHEMA))
    content = sink.getvalue().to_pybytes()
    assert isinstance(content, bytes)
    return content
