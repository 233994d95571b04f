"""What happens on a broker when a test moves the clock."""

import time
from collections.abc import Callable

import pytest

from e2e.conversation import (
    EARLIEST,
    FETCH_BY_NAME,
    batch_of,
    fetch_request,
    list_offset,
    produce,
    produce_values,
)
from e2e.wire import WireClient
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.groups.find_coordinator import FindCoordinatorRequest
from moldau.protocol.messages.groups.heartbeat import HeartbeatRequest
from moldau.protocol.messages.groups.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from moldau.protocol.messages.groups.sync_group import SyncGroupRequest
from moldau.protocol.messages.log.fetch import FetchRequest
from moldau.testing import LocalCluster, MovedClock

HOUR_S = 3600
SESSION_S = 45
JOIN_WITHOUT_MEMBER_ID = 3
WEEK_S = 7 * 24 * HOUR_S
PATIENCE_S = 10


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.005)


def test_retention_deletes_what_the_clock_has_made_old(cluster: LocalCluster, client: WireClient) -> None:
    cluster.create_topic("short", configs={"retention.ms": str(HOUR_S * 1000)})
    cluster.create_topic("long")
    for topic in ("short", "long"):
        produce_values(client, topic, [b"old"])
    cluster.clock.advance(2 * HOUR_S)
    wait_until(lambda: list_offset(client, "short", EARLIEST) == 1)
    assert list_offset(client, "long", EARLIEST) == 0


def test_the_broker_stamps_records_with_the_moved_time(cluster: LocalCluster, client: WireClient) -> None:
    cluster.create_topic("stamped", configs={"message.timestamp.type": "LogAppendTime"})
    cluster.clock.advance(WEEK_S)
    ahead_s = produce(client, "stamped", batch_of([b"x"])).log_append_time_ms / 1000 - time.time()
    assert ahead_s == pytest.approx(cluster.clock.moved_s, abs=PATIENCE_S)


def test_who_waits_on_the_broker_need_not_wait_outside(cluster: LocalCluster, client: WireClient) -> None:
    cluster.create_topic("empty")
    correlation_id = client.send(fetch_request("empty", {0: 0}, wait_ms=HOUR_S * 1000), FETCH_BY_NAME)
    with WireClient(client.socket.getpeername()[1]) as other:
        list_offset(other, "empty", EARLIEST)  # By now the fetch waits.
    assert client.is_open()
    cluster.clock.advance(HOUR_S)
    answer = client.receive(FetchRequest, FETCH_BY_NAME, correlation_id)
    assert not answer.responses[0].partitions[0].records


def test_a_member_that_is_not_heard_of_loses_its_place(cluster: LocalCluster, client: WireClient) -> None:
    find_coordinator = FindCoordinatorRequest(coordinator_keys=["readers"])
    assert client.call(find_coordinator).coordinators[0].error_code == 0
    join = JoinGroupRequest(
        group_id="readers",
        session_timeout_ms=SESSION_S * 1000,
        rebalance_timeout_ms=SESSION_S * 1000,
        member_id="",
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
    )
    joined = client.call(join, JOIN_WITHOUT_MEMBER_ID)
    assert joined.error_code == 0
    mine = {"group_id": "readers", "generation_id": joined.generation_id, "member_id": joined.member_id}
    assert client.call(SyncGroupRequest(**mine, assignments=[])).error_code == 0
    for _ in range(3):
        cluster.clock.advance(SESSION_S * 0.9)
        assert client.call(HeartbeatRequest(**mine)).error_code == 0
    cluster.clock.advance(SESSION_S + 1)
    assert client.call(HeartbeatRequest(**mine)).error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_time_goes_on_over_a_restart() -> None:
    with LocalCluster() as cluster:
        cluster.clock.advance(WEEK_S)
        cluster.restart()
        assert cluster.clock.moved_s == WEEK_S
        cluster.kill()
        cluster.clock.advance(1)
        assert cluster.clock.moved_s == WEEK_S + 1


def test_a_clock_moves_forward_only() -> None:
    clock = MovedClock()
    before_ms, monotonic_ms = clock.now_ms(), clock.monotonic_ms()
    clock.advance(1.5)
    assert clock.now_ms() - before_ms >= 1500
    assert clock.monotonic_ms() - monotonic_ms >= 1500
    with pytest.raises(ValueError, match="back"):
        clock.advance(-1)
