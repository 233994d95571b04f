"""Writes a controller's decisions, under its epoch. Blocks: runs on a worker thread."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final, NamedTuple, TypeVar

from moldau.cluster.controller.machine import Decision
from moldau.cluster.controller.reassignment import Move
from moldau.coordination import tree_layout as layout
from moldau.coordination.image import TopicImage
from moldau.coordination.partition_states import StaleState, StateWrite, write_states
from moldau.coordination.store import (
    BadVersion,
    CheckVersion,
    Create,
    NodeExists,
    NoNode,
    Op,
    SetData,
    Store,
    StoreError,
)
from moldau.core.errors import MoldauError
from moldau.core.ids import TopicPartition

_log = logging.getLogger("moldau.controller")

BATCH_PARTITIONS: Final = 100
"""Partitions written in one step: a ZooKeeper request must stay below a megabyte."""

Item = TypeVar("Item")


class Deposed(MoldauError):
    """Another controller has been elected. Nothing was written."""


class Term(NamedTuple):
    """A term as controller. It lasts as long as the node of the controller epoch has this version."""

    epoch: int
    version: int

    def check(self) -> CheckVersion:
        return CheckVersion(layout.CONTROLLER_EPOCH, self.version)


def stand_for_election(store: Store, broker_id: int, now_ms: int) -> Term | None:
    """The new term, or None if another broker was faster."""
    (present,) = store.read_many([layout.CONTROLLER_EPOCH])
    claim = Create(layout.CONTROLLER, layout.encode_controller(broker_id, now_ms), ephemeral=True)
    try:
        if present is None:
            store.multi([claim, Create(layout.CONTROLLER_EPOCH, b"1")])
            return Term(1, 0)
        epoch = int(present.data) + 1
        store.multi([claim, SetData(layout.CONTROLLER_EPOCH, str(epoch).encode(), present.stat.version)])
        return Term(epoch, present.stat.version + 1)
    except (NodeExists, BadVersion, NoNode):
        return None


def resign(store: Store, broker_id: int) -> None:
    """Lets another broker take over at once and not only when the session expires."""
    (node,) = store.read_many([layout.CONTROLLER])
    if node is not None and node.stat.owner == store.session_id:
        with suppress(StoreError):
            store.delete(layout.CONTROLLER, node.stat.version)


def write_decision(store: Store, term: Term, decision: Decision) -> None:
    """Writes a decision, except where the tree has changed since: there the next image leads to a new decision. Raises
    Deposed."""
    for topic, move in decision.moves:
        _write_move(store, term, topic, move)
    for batch in _batches(decision.states, BATCH_PARTITIONS):
        _write_states(store, term, batch)
    for path in decision.handled:
        with suppress(NoNode):
            store.delete(path)
    for note in decision.notes:
        _log.warning("%s", note)


def _write_states(store: Store, term: Term, writes: Sequence[StateWrite]) -> None:
    stamped = [write._replace(state=write.state._replace(controller_epoch=term.epoch)) for write in writes]
    try:
        _write(store, term, stamped)
    except StaleState:
        if len(writes) > 1:
            for write in writes:
                _write_states(store, term, [write])
        return
    for topic_partition, state in stamped:
        _log.info(
            "%s: leader %d in epoch %d, in sync %s",
            topic_partition,
            state.leader,
            state.leader_epoch,
            list(state.isr),
        )


def _write_move(store: Store, term: Term, topic: TopicImage, move: Move) -> None:
    with suppress(StaleState):
        _write(store, term, *move_writes(topic, move, term.epoch))
        _log.info(
            "%s: replicas %s, adding %s, removing %s",
            topic.name, list(move.node.replicas), dict(move.node.adding), dict(move.node.removing),
        )  # fmt: skip


def move_writes(topic: TopicImage, move: Move, controller_epoch: int) -> tuple[list[StateWrite], list[Op]]:
    """The writes of a move, states first: a reader that already sees the new node must not assume initial states."""
    states = [
        StateWrite(TopicPartition(topic.name, partition), state._replace(controller_epoch=controller_epoch))
        for partition, state in move.states.items()
    ]
    return states, [SetData(layout.topic_path(topic.name), layout.encode_topic(move.node), topic.version)]


def _write(store: Store, term: Term, states: Sequence[StateWrite], after: Sequence[Op] = ()) -> None:
    try:
        write_states(store, states, [term.check()], after)
    except StoreError as refusal:
        if refusal.path == layout.CONTROLLER_EPOCH:
            raise Deposed(str(refusal)) from None
        raise StaleState(str(refusal)) from None


def _batches(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    return (items[start : start + size] for start in range(0, len(items), size))
