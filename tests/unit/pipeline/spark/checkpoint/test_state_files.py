"""State of a task in files: versions, snapshots, what a batch run again finds."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'moldau[spark]'")

from moldau.pipeline.operators.state import Delta
from moldau.pipeline.spark.checkpoint.folder import Folder
from moldau.pipeline.spark.checkpoint.kept_state import KeptState
from moldau.pipeline.spark.checkpoint.state_files import DELTAS_PER_SNAPSHOT_MAX, START, StateFiles, StateLost


def applied(state: dict[tuple[str, bytes], bytes], deltas: list[Delta]) -> dict[tuple[str, bytes], bytes]:
    for store, key, value in deltas:
        if value is None:
            state.pop((store, key), None)
        else:
            state[store, key] = value
    return state


def loaded(files: StateFiles, before: int) -> dict[tuple[str, bytes], bytes]:
    whole, deltas = files.changes(START, before)
    assert whole
    return applied({}, deltas)


def test_a_version_is_what_the_batches_before_it_left(tmp_path: Path) -> None:
    files = StateFiles(Folder(str(tmp_path / "0_0")))
    files.write_delta(0, [("s", b"a", b"1"), ("s", b"b", b"1")])
    files.write_delta(2, [("s", b"a", b"2"), ("t", b"b", None)])
    files.write_delta(3, [("s", b"b", None)])
    assert loaded(files, 0) == {}
    assert loaded(files, 2) == {("s", b"a"): b"1", ("s", b"b"): b"1"}
    assert loaded(files, 3) == {("s", b"a"): b"2", ("s", b"b"): b"1"}
    assert loaded(files, 4) == {("s", b"a"): b"2"}


def test_a_batch_run_again_starts_before_itself_and_replaces_what_it_left(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path))
    StateFiles(folder).write_delta(0, [("s", b"a", b"1")])
    StateFiles(folder).write_delta(1, [("s", b"a", b"half done")])
    again = StateFiles(folder)
    assert loaded(again, 1) == {("s", b"a"): b"1"}
    again.write_delta(1, [("s", b"a", b"2")])
    assert loaded(again, 2) == {("s", b"a"): b"2"}


def test_who_has_a_version_reads_only_what_came_since(tmp_path: Path) -> None:
    files = StateFiles(Folder(str(tmp_path)))
    for batch in range(4):
        files.write_delta(batch, [("s", b"%d" % batch, b"x")])
    assert files.changes(3, 4) == (False, [])
    assert files.changes(1, 4) == (False, [("s", b"2", b"x"), ("s", b"3", b"x")])


def test_old_versions_go_and_the_state_stays(tmp_path: Path) -> None:
    files = StateFiles(Folder(str(tmp_path)))
    state: dict[tuple[str, bytes], bytes] = {}
    for batch in range(5 * DELTAS_PER_SNAPSHOT_MAX):
        deltas: list[Delta] = [("s", b"%d" % (batch % 7), b"%d" % batch)]
        applied(state, deltas)
        files.write_delta(batch, deltas)
        if files.wants_snapshot:
            files.write_snapshot(batch, [(store, key, value) for (store, key), value in state.items()])
    assert len(list(tmp_path.iterdir())) < 3 * DELTAS_PER_SNAPSHOT_MAX
    assert loaded(StateFiles(Folder(str(tmp_path))), 5 * DELTAS_PER_SNAPSHOT_MAX) == state
    # A reader that is far behind starts with a snapshot: the deltas in between were removed.
    whole, deltas = files.changes(3, 5 * DELTAS_PER_SNAPSHOT_MAX)
    assert whole and applied({}, deltas) == state


keys = st.sampled_from([b"a", b"b", b"c"])
changes = st.lists(
    st.tuples(st.sampled_from(["s", "t"]), keys, st.none() | st.binary(max_size=3)), max_size=5
)


@settings(max_examples=40, deadline=None)
@given(
    batches=st.lists(changes, max_size=8), snapshots=st.sets(st.integers(0, 7)), seen=st.integers(START, 7)
)
def test_any_reader_gets_to_the_same_state(
    batches: list[list[Delta]], snapshots: set[int], seen: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    files = StateFiles(Folder(str(tmp_path_factory.mktemp("state"))))
    state: dict[tuple[str, bytes], bytes] = {}
    had: dict[tuple[str, bytes], bytes] = {}
    for batch, deltas in enumerate(batches):
        files.write_delta(batch, deltas)
        applied(state, deltas)
        if batch <= seen:
            had = dict(state)
        if batch in snapshots:
            files.write_snapshot(batch, [(store, key, value) for (store, key), value in state.items()])
    whole, deltas = files.changes(min(seen, len(batches) - 1), len(batches))
    assert applied({} if whole else had, deltas) == state


def test_a_gap_is_noticed_before_anything_is_read(tmp_path: Path) -> None:
    files = StateFiles(Folder(str(tmp_path)))
    for batch in (0, 3, 4):
        files.write_delta(batch, [("s", b"k", b"%d" % batch)])
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "0.first.delta",
        "3.after-0.delta",
        "4.after-3.delta",
    ]
    assert files.last_version() == 4
    (tmp_path / "3.after-0.delta").unlink()
    again = StateFiles(Folder(str(tmp_path)))
    for read in (again.last_version, lambda: again.changes(START, 9), lambda: again.changes(0, 9)):
        with pytest.raises(StateLost, match=r"4\.after-3\.delta follows version 3.*restore the checkpoint"):
            read()
    (tmp_path / "0.first.delta").unlink()
    with pytest.raises(StateLost, match="there is nothing before it"):
        again.last_version()


def test_a_lost_snapshot_is_made_up_for_by_the_deltas_or_noticed(tmp_path: Path) -> None:
    files = StateFiles(Folder(str(tmp_path)))
    for batch in range(4):
        files.write_delta(batch, [("s", b"k", b"%d" % batch)])
        if batch in (1, 2):
            files.write_snapshot(batch, [("s", b"k", b"%d" % batch)])
    (tmp_path / "2.snapshot").unlink()
    assert loaded(StateFiles(Folder(str(tmp_path))), 4) == {("s", b"k"): b"3"}
    (tmp_path / "1.snapshot").unlink()
    (tmp_path / "0.first.delta").unlink()
    with pytest.raises(StateLost, match=r"1\.after-0\.delta"):
        loaded(StateFiles(Folder(str(tmp_path))), 4)


def test_versions_of_the_earlier_form_are_read(tmp_path: Path) -> None:
    files = StateFiles(Folder(str(tmp_path)))
    for batch in range(3):
        files.write_delta(batch, [("s", b"k", b"%d" % batch)])
    for old, new in (("0.first.delta", "0.delta"), ("1.after-0.delta", "1.delta")):
        (tmp_path / old).rename(tmp_path / new)
    assert loaded(StateFiles(Folder(str(tmp_path))), 3) == {("s", b"k"): b"2"}


def test_what_was_let_go_does_not_come_back(tmp_path: Path) -> None:
    """Neither from deltas nor from a snapshot; with a store go the times of its operator."""
    writer = StateFiles(Folder(str(tmp_path)))

    def entries(value: bytes) -> list[Delta]:
        times = ["store gone", "window GONE-1", "window KEPT-1", "punctuation GONE-1 stream time 0"]
        stores: list[Delta] = [(store, b"k", value) for store in ("kept", "gone", "unknown")]
        return stores + [("task-times", name.encode(), value) for name in times]

    writer.write_delta(0, entries(b"old"))
    writer.write_snapshot(0, [(store, key, value) for store, key, value in entries(b"old") if value])
    writer.write_delta(1, entries(b"older"))
    kept = KeptState(["kept", "gone"], {"gone": 2, "GONE-1": 2})
    reader = StateFiles(Folder(str(tmp_path)), kept)
    assert loaded(reader, 2) == {("kept", b"k"): b"older", ("task-times", b"window KEPT-1"): b"older"}
    writer.write_delta(2, entries(b"new"))
    found = loaded(reader, 3)
    assert {store for store, _ in found} == {"kept", "gone", "task-times"}
    assert len(found) == 6 and set(found.values()) == {b"new"}
