"""What no client library asks, or only one that has been away: the error codes are Kafka's."""

from collections.abc import Callable, Iterator

import pytest

from compat.groups.raw_member import RawMember
from compat.groups.raw_transactional import RawTransactional
from compat.server_process import ServerProcess
from e2e.wire import WireClient
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.groups.join_group import JoinGroupRequestProtocol
from moldau.protocol.messages.transactions.list_transactions import ListTransactionsRequest

INT32_MAX = 2**31 - 1


@pytest.fixture
def member(broker: ServerProcess, group: str) -> Iterator[RawMember]:
    with WireClient(broker.port) as wire:
        yield RawMember(wire, group)


@pytest.fixture
def joined(member: RawMember) -> RawMember:
    member.join()
    return member


def test_a_commit_of_a_stale_generation(new_topic: Callable[..., str], joined: RawMember) -> None:
    topic = new_topic()
    for generation in (joined.generation - 1, joined.generation + 1):
        code = joined.commit(topic, generation_id_or_member_epoch=generation)
        assert code == ErrorCode.ILLEGAL_GENERATION
    assert joined.commit(topic) == ErrorCode.NONE


def test_a_commit_of_a_stranger(new_topic: Callable[..., str], joined: RawMember) -> None:
    topic = new_topic()
    assert joined.commit(topic, member_id="nobody") == ErrorCode.UNKNOWN_MEMBER_ID
    outside = {"member_id": "", "generation_id_or_member_epoch": -1}
    assert joined.commit(topic, **outside) == ErrorCode.UNKNOWN_MEMBER_ID
    assert joined.leave() == ErrorCode.NONE
    assert joined.commit(topic, **outside) == ErrorCode.NONE
    assert joined.commit(topic) == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_commit_of_what_is_not_there(new_topic: Callable[..., str], joined: RawMember) -> None:
    topic = new_topic()
    assert joined.commit(f"{topic}.none") == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert joined.commit(topic, partition=1) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert joined.commit(topic, group_id="") == ErrorCode.GROUP_ID_NOT_FOUND
    assert joined.commit(topic, metadata="x" * 4097) == ErrorCode.OFFSET_METADATA_TOO_LARGE
    assert joined.commit(topic, metadata="x" * 4096) == ErrorCode.NONE


def test_heartbeats(joined: RawMember) -> None:
    assert joined.heartbeat() == ErrorCode.NONE
    assert joined.heartbeat(generation_id=joined.generation - 1) == ErrorCode.ILLEGAL_GENERATION
    assert joined.heartbeat(member_id="nobody") == ErrorCode.UNKNOWN_MEMBER_ID
    assert joined.heartbeat(group_id=f"{joined.group}.none") == ErrorCode.UNKNOWN_MEMBER_ID
    assert joined.heartbeat(group_id="") == ErrorCode.INVALID_GROUP_ID
    assert joined.heartbeat(group_instance_id="two") == ErrorCode.UNKNOWN_MEMBER_ID


def test_syncs(joined: RawMember) -> None:
    assert joined.sync() == ErrorCode.NONE
    assert joined.sync(generation_id=joined.generation - 1) == ErrorCode.ILLEGAL_GENERATION
    assert joined.sync(member_id="nobody") == ErrorCode.UNKNOWN_MEMBER_ID
    assert joined.sync(protocol_type="connect") == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert joined.sync(protocol_name="roundrobin") == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert joined.sync(group_id="") == ErrorCode.INVALID_GROUP_ID


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"group_id": ""}, ErrorCode.INVALID_GROUP_ID),
        ({"session_timeout_ms": -1}, ErrorCode.INVALID_SESSION_TIMEOUT),
        ({"session_timeout_ms": 499}, ErrorCode.INVALID_SESSION_TIMEOUT),
        ({"session_timeout_ms": INT32_MAX}, ErrorCode.INVALID_SESSION_TIMEOUT),
        ({"protocols": []}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_type": ""}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ({"member_id": "nobody"}, ErrorCode.UNKNOWN_MEMBER_ID),
    ],
    ids=lambda value: "-".join(map(str, value.items())) if isinstance(value, dict) else value.name,
)
def test_joins(member: RawMember, changes: dict[str, object], code: ErrorCode) -> None:
    assert member.ask_to_join(**changes).error_code == code


def test_joins_of_another_kind(joined: RawMember) -> None:
    roundrobin = [JoinGroupRequestProtocol(name="roundrobin", metadata=b"")]
    with WireClient(joined.wire.socket.getpeername()[1]) as wire:
        other = RawMember(wire, joined.group)
        assert other.ask_to_join(protocol_type="connect").error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        assert other.ask_to_join(protocols=roundrobin).error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_leaving(joined: RawMember) -> None:
    assert joined.leave("nobody") == ErrorCode.UNKNOWN_MEMBER_ID
    assert joined.leave() == ErrorCode.NONE
    assert joined.leave() == ErrorCode.UNKNOWN_MEMBER_ID
    assert joined.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID


def test_transactions_listed_by_pattern(broker: ServerProcess, new_topic: Callable[..., str]) -> None:
    """As a whole, and by RE2 (KIP-1152): a pattern that others would try for ever is answered at once."""
    with WireClient(broker.port) as wire:
        topic = new_topic()
        RawTransactional(wire, broker.bootstrap, topic).init()

        def listed(pattern: str) -> list[str] | ErrorCode:
            request = ListTransactionsRequest(
                state_filters=[], producer_id_filters=[], transactional_id_pattern=pattern
            )
            answer = wire.call(request)
            if answer.error_code:
                return ErrorCode(answer.error_code)
            return [state.transactional_id for state in answer.transaction_states]

        assert listed(f"{topic[:-1]}.") == [topic]
        assert listed(topic[:-1]) == []
        assert listed("(([a-z-]+)+)+!") == []
        assert listed(f"{topic}(") == ErrorCode.INVALID_REGULAR_EXPRESSION
        assert listed(f"(?={topic})") == ErrorCode.INVALID_REGULAR_EXPRESSION
