"""Upgrades a checkpoint from one topology to the next, between two batches.

The last planned batch may be incomplete: some tasks of the old topology have committed it, others have not. The state
that the others have written for it is removed, and their ranges become the first batch of the new topology, under the
next number. So no batch is run by tasks of two topologies. The order of writes is state, plan, record. Until the record
is written, the old topology can continue, and the upgrade can be repeated from its beginning.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from moldau.pipeline.operators.state import TIMES
from moldau.pipeline.operators.task import STREAM_TIME
from moldau.pipeline.spark.checkpoint.application_record import ApplicationRecord, StateFolder
from moldau.pipeline.spark.checkpoint.folder import Folder
from moldau.pipeline.spark.checkpoint.kept_state import KeptState
from moldau.pipeline.spark.checkpoint.state_files import START, StateFiles
from moldau.pipeline.spark.marker import Marker
from moldau.pipeline.spark.planning.ledger import Ledger
from moldau.pipeline.spark.planning.planner import FIRST_STEP_MS, Plan
from moldau.pipeline.spark.positions import Positions, positions_from_json, positions_to_json
from moldau.pipeline.spark.settings import OnChange
from moldau.pipeline.spark.upgrades.comparison import Upgrade

Markers = Mapping[tuple[str, int], Marker]


@dataclass(frozen=True)
class Reached:
    """How far the old topology has got."""

    batch_id: int
    """The last planned batch; -1 if there is none."""
    plan: Plan | None
    done: frozenset[tuple[int, int]]
    """Sub-topology and partition of the tasks that have committed it."""
    positions: Positions


def reached(record: ApplicationRecord, plan: Plan | None, markers: Markers) -> Reached:
    assert record.inventory is not None
    if plan is None:
        return Reached(START, None, frozenset(), positions_from_json(record.initial_json))
    part_of = {topic: number for number, part in enumerate(record.inventory.parts) for topic in part.topics}
    done = frozenset(
        (part_of[topic], partition)
        for (topic, partition), marker in markers.items()
        if topic in part_of
        and marker.checkpoint_id == record.checkpoint_id
        and marker.batch_id >= plan.batch_id
    )
    positions: Positions = {}
    for one in plan.ranges():
        is_done = (part_of.get(one.topic, -1), one.partition) in done
        positions.setdefault(one.topic, {})[one.partition] = one.end_offset if is_done else one.start_offset
    return Reached(plan.batch_id, plan, done, positions)


def carry_out(
    upgrade: Upgrade,
    choice: OnChange,
    record: ApplicationRecord,
    so_far: Reached,
    begin: Positions,
    topic_ids: Mapping[str, str],
    folder: Folder,
) -> ApplicationRecord:
    """Saves and returns the record of the new topology. `begin`: the first positions of topics that start over."""
    state = folder.within("state")
    _remove_half_done(record, so_far, state)
    following = so_far.batch_id + 1
    places, made = _places(upgrade, record, following)
    begins = {**record.begins, **dict.fromkeys(upgrade.forgotten(choice), following)}
    _move_state(upgrade, record, places, begins, so_far.batch_id, state)
    if so_far.plan is not None:
        Ledger(folder.within("plans")).write(_next_plan(so_far.plan, so_far, begin))
    initial = {**positions_from_json(record.initial_json), **begin}
    record = replace(
        record,
        fingerprint=upgrade.topology.fingerprint,
        topic_ids=topic_ids,
        initial=positions_to_json({topic: initial[topic] for topic in topic_ids if topic in initial}),
        inventory=upgrade.after,
        places=places,
        folders_made=made,
        begins=begins,
    )
    record.save(folder)
    return record


def _remove_half_done(record: ApplicationRecord, so_far: Reached, state: Folder) -> None:
    if so_far.plan is None:
        return
    for number, place in enumerate(record.places):
        for partition in partitions_of(state, place.folder):
            if (number, partition) not in so_far.done:
                StateFiles(state.within(f"{place.folder}_{partition}")).remove_from(so_far.batch_id)


def _places(
    upgrade: Upgrade, record: ApplicationRecord, following: int
) -> tuple[tuple[StateFolder, ...], int]:
    """A sub-topology keeps the folder of the old one whose state it has, if that is only one and nobody shares it."""
    places: list[StateFolder] = []
    made = record.folders_made
    for part, olds in zip(upgrade.after.parts, upgrade.inherits, strict=True):
        taken = {place.folder for place in places}
        old = record.places[olds[0]] if len(olds) == 1 else None
        if old is None or old.folder in taken:
            places.append(StateFolder(str(made), dict.fromkeys(part.topics, following)))
            made += 1
            continue
        kept_state = upgrade.before.parts[olds[0]].keeps_state
        since = {topic: old.since.get(topic, following) if kept_state else following for topic in part.topics}
        places.append(StateFolder(old.folder, since))
    return tuple(places), made


def _move_state(
    upgrade: Upgrade,
    record: ApplicationRecord,
    places: tuple[StateFolder, ...],
    begins: Mapping[str, int],
    batch_id: int,
    state: Folder,
) -> None:
    """Where sub-topologies were merged or split, copies their state as it was after `batch_id`."""
    olds_folders = {place.folder for place in record.places}
    for part, place, olds in zip(upgrade.after.parts, places, upgrade.inherits, strict=True):
        if place.folder in olds_folders:
            continue
        for partition in partitions_of(state, place.folder):
            # From an unfinished attempt.
            state.within(f"{place.folder}_{partition}").remove_all()
        folders = {old: record.places[old].folder for old in olds}
        for partition in sorted({one for name in folders.values() for one in partitions_of(state, name)}):
            content: dict[tuple[str, bytes], bytes] = {}
            for old, name in folders.items():
                stores = set(part.stores) & set(upgrade.before.parts[old].stores)
                files = StateFiles(state.within(f"{name}_{partition}"), KeptState(stores, begins))
                _add(content, files.changes(START, batch_id + 1)[1])
            items = [(store, key, value) for (store, key), value in content.items()]
            StateFiles(state.within(f"{place.folder}_{partition}")).write_snapshot(batch_id, items)


def _add(content: dict[tuple[str, bytes], bytes], deltas: list[tuple[str, bytes, bytes | None]]) -> None:
    stream_time = (TIMES, STREAM_TIME.encode())
    for store, key, value in deltas:
        if value is None:
            content.pop((store, key), None)
        elif (store, key) == stream_time:
            # The stream time of the task is the latest of all.
            content[stream_time] = max(value, content.get(stream_time, value), key=_time)
        else:
            content[store, key] = value


def _time(packed: bytes) -> int:
    return int.from_bytes(packed, signed=True)


def _next_plan(plan: Plan, so_far: Reached, begin: Positions) -> Plan:
    """The rest of the last batch. Topics that are no longer read stay in it, in case the old topology comes back."""
    ends: Positions = {topic: dict(partitions) for topic, partitions in plan.ends.items()}
    return replace(
        plan,
        batch_id=plan.batch_id + 1,
        starts={**so_far.positions, **begin},
        ends={**ends, **begin},
        delayed={topic: queue for topic, queue in plan.delayed.items() if topic not in begin},
        # Topics that start now have older records.
        frontier_ms=-1 if begin else plan.frontier_ms,
        step_ms=FIRST_STEP_MS if begin else plan.step_ms,
        woken=(),
        advance_ms=None,
    )


def partitions_of(state: Folder, folder: str) -> list[int]:
    """The partitions of the tasks that have state in a folder."""
    found = (name.rpartition("_") for name in state.names())
    return sorted(int(number) for name, _, number in found if name == folder and number.isdigit())
