"""An upgrade carried out on a checkpoint: the batch that was half done, folders, positions, what a crash leaves."""

import struct
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'moldau[spark]'")

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.spark.checkpoint.application_record import ApplicationRecord, StateFolder
from moldau.pipeline.spark.checkpoint.folder import Folder
from moldau.pipeline.spark.checkpoint.kept_state import KeptState
from moldau.pipeline.spark.checkpoint.state_files import START, StateFiles
from moldau.pipeline.spark.marker import Marker
from moldau.pipeline.spark.planning.ledger import Ledger
from moldau.pipeline.spark.planning.planner import Plan
from moldau.pipeline.spark.upgrades.carrying_out import Markers, carry_out, reached
from moldau.pipeline.spark.upgrades.comparison import compare
from moldau.pipeline.spark.upgrades.whole_state import require_whole
from moldau.pipeline.streams import STRING, StreamsBuilder

OLD_PLAN = Plan(
    7,
    {"a": {0: 10, 1: 20}, "b": {0: 0, 1: 5}},
    {"a": {0: 15, 1: 25}, "b": {0: 3, 1: 5}},
    99,
    frontier_ms=50,
    woken=("0_1",),
)


def topology(*topics: str, joined: bool = False) -> Topology:
    """Counts each topic."""
    builder = StreamsBuilder("app", key=STRING, value=STRING)
    tables = [builder.stream(topic).group_by_key().count(store=f"{topic}s") for topic in topics]
    if joined:
        tables[0].join(tables[1], lambda one, other: one + other)
    return builder.build()


class Checkpoint:
    """Of counts of `a` and `b` with two partitions each, its batch 7 committed by some of its tasks."""

    def __init__(self, path: Path, *done: tuple[str, int]) -> None:
        self.folder = Folder(str(path))
        topics = {"a": "id-a", "b": "id-b"}
        record = ApplicationRecord.new("app", "", topics, {"a": {"0": 0}, "b": {"0": 0}}, 1, {})
        self.record = record.with_inventory(topology("a", "b"))
        self.record.save(self.folder)
        Ledger(self.folder.within("plans")).write(OLD_PLAN)
        self.markers: Markers = {
            (topic, partition): Marker(record.checkpoint_id, 7 if (topic, partition) in done else 6)
            for topic in topics
            for partition in (0, 1)
        }
        for part, topic in enumerate(topics):
            for partition in (0, 1):
                files = self.state(f"{part}_{partition}")
                for batch in (6, 7):
                    time = struct.pack(">q", 100 * part + batch)
                    entries = [(f"{topic}s", b"k", b"%d" % batch), ("task-times", b"stream time", time)]
                    files.write_delta(batch, entries)

    def state(self, task: str, kept: KeptState | None = None) -> StateFiles:
        return StateFiles(self.folder.within("state").within(task), kept)

    def upgrade(
        self, changed: Topology, choice: str = "refuse", **begin: dict[int, int]
    ) -> ApplicationRecord:
        found = compare(self.record.inventory, changed, {})  # type: ignore[arg-type]
        plan = Ledger(self.folder.within("plans")).last()
        self.record = carry_out(
            found,
            choice,  # type: ignore[arg-type]
            self.record,
            reached(self.record, plan, self.markers),
            begin,
            {topic: f"id-{topic}" for topic in found.after.source_topics},
            self.folder,
        )
        assert ApplicationRecord.load(self.folder, "app") == self.record
        return self.record

    @property
    def plan(self) -> Plan:
        plan = Ledger(self.folder.within("plans")).last()
        assert plan is not None
        return plan


def test_what_was_left_of_the_last_batch_is_the_next_one(tmp_path: Path) -> None:
    """Under its number, with the state of those that were not done taken back."""
    found = Checkpoint(tmp_path, ("a", 0), ("b", 1))
    record = found.upgrade(topology("new", "b", "a"), new={0: 4})
    assert found.plan.batch_id == 8
    assert found.plan.starts == {"a": {0: 15, 1: 20}, "b": {0: 0, 1: 5}, "new": {0: 4}}
    assert found.plan.ends == {"a": {0: 15, 1: 25}, "b": {0: 3, 1: 5}, "new": {0: 4}}
    assert found.plan.woken == () and found.plan.frontier_ms == -1
    assert [found.state(task).last_version() for task in ("0_0", "0_1", "1_0", "1_1")] == [7, 6, 6, 7]
    # The renumbered parts go on in their folders; the new one has one that nobody had.
    assert record.state_folders == ("2", "1", "0") and record.folders_made == 3
    assert record.topic_ids == {"new": "id-new", "b": "id-b", "a": "id-a"}
    assert record.initial["new"] == {"0": 4} and record.begins == {}
    assert [dict(place.since) for place in record.places] == [{"new": 8}, {"b": 0}, {"a": 0}]


def test_until_the_record_is_written_the_old_topology_can_go_on(tmp_path: Path) -> None:
    """A crash between plan and record: done again, the upgrade leads to the same; so does the old topology."""
    found = Checkpoint(tmp_path, ("a", 0))
    before = found.record
    found.upgrade(topology("b"), "drop")
    before.save(found.folder)
    found.record = before
    assert found.plan.batch_id == 8 and found.plan.ends["a"] == {0: 15, 1: 25}
    assert reached(before, found.plan, found.markers).positions["a"] == {0: 15, 1: 20}
    record = found.upgrade(topology("b"), "drop")
    assert found.plan.batch_id == 9 and found.plan.starts["b"] == {0: 0, 1: 5}
    assert record.state_folders == ("1",) and record.begins["as"] == 9


def test_a_store_that_was_dropped_begins_empty_when_it_comes_back(tmp_path: Path) -> None:
    found = Checkpoint(tmp_path, ("a", 0), ("a", 1), ("b", 0), ("b", 1))
    found.upgrade(topology("b"), "drop")
    record = found.upgrade(topology("a", "b"), a={0: 0, 1: 0})
    assert record.state_folders == ("2", "1")
    files = found.state("0_0", KeptState(["as"], record.begins))
    assert [delta for delta in files.changes(START, 9)[1] if delta[0] == "as"] == []


def test_joined_parts_get_the_state_of_both(tmp_path: Path) -> None:
    found = Checkpoint(tmp_path, ("a", 0), ("a", 1), ("b", 0))
    record = found.upgrade(topology("a", "b", joined=True))
    assert record.state_folders == ("2",)
    state = {(store, key): value for store, key, value in found.state("2_0").changes(START, 8)[1]}
    assert state["as", b"k"] == state["bs", b"k"] == b"7"
    assert struct.unpack(">q", state["task-times", b"stream time"] or b"") == (107,)
    # The task of b that was not done is not ahead of its input.
    state = {(store, key): value for store, key, value in found.state("2_1").changes(START, 8)[1]}
    assert (state["as", b"k"], state["bs", b"k"]) == (b"7", b"6")
    assert found.plan.starts["b"] == {0: 3, 1: 5}
    # Cut apart again, one goes on in the folder, the other gets a copy.
    assert found.upgrade(topology("a", "b")).state_folders == ("2", "3")
    kept = KeptState(["bs"], {})
    assert ("bs", b"k", b"7") in found.state("3_0", kept).changes(START, 9)[1]


def test_state_that_does_not_reach_as_far_as_its_marker_is_lost(tmp_path: Path) -> None:
    found = Checkpoint(tmp_path, ("a", 0))
    require_whole(found.record, found.markers, found.folder)
    for file in (tmp_path / "state" / "1_1").iterdir():
        file.unlink()
    with pytest.raises(
        ConfigError, match=r"1_1 has committed batch 6, but the folder holds nothing.*reset app"
    ):
        require_whole(found.record, found.markers, found.folder)
    # Markers of before a folder was made say nothing of it.
    places = (found.record.places[0], StateFolder("1", {"b": 7}))
    record = ApplicationRecord(**{**vars(found.record), "places": places})
    require_whole(record, found.markers, found.folder)


def test_a_checkpoint_of_the_earlier_form_is_read_when_nothing_has_changed(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path))
    old = (
        '{"version": 2, "application_id": "app", "checkpoint_id": "c", "fingerprint": "f", "topic_ids": {"a": "i"}, '
        '"initial": {"a": {"0": 0}}, "slots": 1, "partitioners": {}}'
    )
    folder.write("application.json", old.encode())
    record = ApplicationRecord.load(folder, "app")
    assert record is not None and record.inventory is None
    record.check_form("app", "f")
    with pytest.raises(ConfigError, match="Run the old topology once with this version"):
        record.check_form("app", "g")
    record.with_inventory(topology("a")).save(folder)
    assert ApplicationRecord.load(folder, "app") == record.with_inventory(topology("a"))
