"""The state of one task on disk, one version per batch: `<batch>.delta` is what the batch changed, `<batch>.snapshot`
the whole state after it, both as Arrow IPC with the columns store, key, value.

A version is written before its batch is committed to Kafka; a batch that is run again starts from the version
before it and replaces its own. Old versions are removed once two snapshots cover them.
"""

from collections.abc import Iterable
from typing import Final

import pyarrow as pa
from pyarrow import ipc

from moldau.core.errors import MoldauError
from moldau.pipeline.operators.state import Delta
from moldau.pipeline.spark.folder import Folder

SCHEMA: Final = pa.schema(
    [("store", pa.dictionary(pa.int32(), pa.string())), ("key", pa.binary()), ("value", pa.binary())]
)
DELTAS_PER_SNAPSHOT_MAX: Final = 200
SNAPSHOT_BYTES_MIN: Final = 1 << 20
"""Deltas are folded into a snapshot when together they outweigh the last one, but not before this."""
SNAPSHOTS_KEPT: Final = 2
START: Final = -1
"""The version before the first batch: no state."""


class StateFiles:
    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._delta_bytes = 0
        self._delta_count = 0
        self._snapshot_bytes = 0

    def changes(self, after_version: int, before_version: int) -> tuple[bool, list[Delta]]:
        """What leads from one version to the one before `before_version`; True with it when a snapshot is part of it,
        so that the reader must begin with nothing."""
        versions = self._versions()
        snapshot = max((v for v in versions["snapshot"] if v < before_version), default=START)
        # What lies before a snapshot may be removed: one that is newer than the reader is where it must begin.
        whole = after_version == START or after_version >= before_version or snapshot > after_version
        found: list[Delta] = []
        if whole and snapshot != START:
            found += self._read(f"{snapshot}.snapshot")
            after_version = snapshot
        elif whole:
            after_version = START
        for version in sorted(versions["delta"]):
            if after_version < version < before_version:
                found += self._read(f"{version}.delta")
        return whole, found

    def write_delta(self, version: int, deltas: Iterable[Delta]) -> None:
        content = _encoded(list(deltas))
        self._folder.write(f"{version}.delta", content)
        self._delta_bytes += len(content)
        self._delta_count += 1

    @property
    def wants_snapshot(self) -> bool:
        outgrown = self._delta_bytes > max(SNAPSHOT_BYTES_MIN, self._snapshot_bytes)
        return outgrown or self._delta_count >= DELTAS_PER_SNAPSHOT_MAX

    def write_snapshot(self, version: int, items: Iterable[Delta]) -> None:
        """Only of a version whose batch is committed: nobody will ask for one before it."""
        content = _encoded(list(items))
        self._folder.write(f"{version}.snapshot", content)
        self._snapshot_bytes, self._delta_bytes, self._delta_count = len(content), 0, 0
        self._remove_old()

    def _remove_old(self) -> None:
        versions = self._versions()
        snapshots = sorted(versions["snapshot"])
        if len(snapshots) <= SNAPSHOTS_KEPT:
            return
        oldest_kept = snapshots[-SNAPSHOTS_KEPT]
        for kind, found in versions.items():
            for version in found:
                if version < oldest_kept or (kind == "delta" and version == oldest_kept):
                    self._folder.remove(f"{version}.{kind}")

    def _versions(self) -> dict[str, list[int]]:
        versions: dict[str, list[int]] = {"delta": [], "snapshot": []}
        for name in self._folder.names():
            version, _, kind = name.partition(".")
            versions[kind].append(int(version))
        return versions

    def _read(self, name: str) -> list[Delta]:
        content = self._folder.read(name)
        if content is None:
            raise MoldauError(
                f"the state file {self._folder.address}/{name} is gone: restore the checkpoint, "
                "or reset the application to build its state anew"
            )
        table = ipc.open_file(pa.BufferReader(content)).read_all()
        columns = (table.column(name).to_pylist() for name in SCHEMA.names)
        return list(zip(*columns, strict=True))


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
