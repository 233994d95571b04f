"""The history of groups: bounded, and plain enough to be sent anywhere."""

import json
from dataclasses import asdict

from moldau.broker.group.client import ClientFacts
from moldau.broker.group.facts import ChangeNoted, OffsetChangeNoted, RebalanceStarted
from moldau.broker.group.history import history
from moldau.broker.group.history.changes import Change, ChangeKind, OffsetChange, OffsetChangeKind
from moldau.broker.group.history.history import History, Rebalance
from moldau.broker.group.settings import GroupSettings
from moldau.protocol.messages.groups.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from scenarios.group.group_runner import GroupRunner

JOINED = Change(ChangeKind.JOINED, 0, "m", None, "c", "/h")


def test_events_are_bounded() -> None:
    kept = History()
    for at_ms in range(2 * history.EVENTS_MAX):
        kept.replay(RebalanceStarted("g", at_ms))
    events = kept.events("g")
    assert len(events) == history.EVENTS_MAX
    assert isinstance(events[-1], Rebalance) and events[-1].started_ms == 2 * history.EVENTS_MAX - 1


def test_reasons_are_bounded_and_the_rest_counted() -> None:
    kept = History()
    kept.replay(ChangeNoted("g", JOINED))
    kept.replay(RebalanceStarted("g", 0))
    for _ in range(history.REASONS_MAX + 9):
        kept.replay(ChangeNoted("g", JOINED))
    (event,) = kept.events("g")
    assert isinstance(event, Rebalance)
    assert (len(event.reasons), event.reasons_left_out) == (history.REASONS_MAX, 10)


def test_offset_changes_are_bounded() -> None:
    kept = History()
    for offset in range(history.OFFSET_CHANGES_MAX + 5):
        change = OffsetChange(OffsetChangeKind.MOVED_BACK, 0, "t", 0, offset + 1, offset)
        kept.replay(OffsetChangeNoted("g", change))
    changes = kept.offset_changes("g", "t", 0)
    assert len(changes) == history.OFFSET_CHANGES_MAX
    assert changes[0].offset_after == 5
    assert kept.offset_changes("g", "t", 1) == ()


def test_the_quietest_group_is_forgotten_first() -> None:
    kept = History()
    for number in range(history.GROUPS_MAX):
        kept.replay(RebalanceStarted(f"g{number}", 0))
    kept.replay(ChangeNoted("g0", JOINED))
    kept.replay(RebalanceStarted("one more", 0))
    assert kept.events("g0") and kept.events("one more")
    assert not kept.events("g1")


def test_explanations_are_plain_data() -> None:
    runner = GroupRunner(GroupSettings())
    runner.start()
    protocol = JoinGroupRequestProtocol(name="range", metadata=b"")
    request = JoinGroupRequest(
        group_id="g",
        session_timeout_ms=10_000,
        member_id="",
        protocol_type="consumer",
        protocols=[protocol],
    )
    runner.ask(request, 3, ClientFacts("c", "/h"))
    told = json.loads(json.dumps(asdict(runner.groups.explain_group("g"))))
    assert told["state"] == "PreparingRebalance"
    (entry,) = told["timeline"]
    assert entry["event"]["reasons"][0]["kind"] == ChangeKind.JOINED
    assert entry["event"]["reasons"][0]["client_host"] == "/h"
    assert json.dumps(asdict(runner.groups.explain_offset("g", "t", 0)))


def test_long_reasons_of_clients_are_cut() -> None:
    runner = GroupRunner(GroupSettings())
    runner.start()
    request = JoinGroupRequest(
        group_id="g",
        session_timeout_ms=10_000,
        member_id="",
        group_instance_id="i",
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
        reason="x" * 30_000,
    )
    runner.ask(request, 9, ClientFacts("c", "/h"))
    (event,) = runner.groups.state.history.events("g")
    assert isinstance(event, Rebalance)
    assert len(event.reasons[0].detail) == 1000
