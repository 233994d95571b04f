"""What a group has committed: who reads it back, when it goes, and what holds where there is none."""

from collections.abc import Callable

import pytest

from compat.client import HOUR_AGO_MS, ClientFailure, Record
from compat.confluent_client import ConfluentClient
from compat.conftest import JAVA
from compat.groups.confluent_admin import ConfluentAdmin
from compat.groups.conftest import BOTH_PROTOCOLS, OpenMember
from compat.groups.java_admin import JavaAdmin
from compat.groups.member import Library, wait_for_assignments, wait_for_records
from compat.groups.waiting import wait_until

NO_RESET = {"java": "none", "confluent": "error"}
"""Both libraries can refuse to guess where to begin; each in its word."""
NOWHERE_TO_BEGIN = {"NoOffsetForPartitionException", "OffsetOutOfRangeException", "_AUTO_OFFSET_RESET"}
METADATA = "bytes: \u00e4\u2603 " + "x" * 100


@pytest.mark.parametrize("library_of", BOTH_PROTOCOLS, indirect=True)
def test_offsets_round_trip(
    new_topic: Callable[..., str], open_member: OpenMember, admin: ConfluentAdmin | JavaAdmin, group: str
) -> None:
    topic = new_topic(2)
    member = open_member("c1")
    wait_for_assignments({member: [(topic, 0), (topic, 1)]})
    offsets = {(topic, 0): (7, ""), (topic, 1): (0, "")}
    member.commit(offsets)
    assert member.committed([(topic, 0), (topic, 1)]) == offsets
    assert admin.group_offsets(group) == offsets


@pytest.mark.java
def test_metadata_round_trips(
    new_topic: Callable[..., str], open_member: OpenMember, java_admin: JavaAdmin, group: str
) -> None:
    """Seen by the library that wrote it and by the Java client; confluent-kafka misreads what others wrote."""
    topic = new_topic()
    member = open_member("c1")
    wait_for_assignments({member: [(topic, 0)]})
    offsets = {(topic, 0): (7, METADATA)}
    member.commit(offsets)
    assert member.committed([(topic, 0)]) == offsets
    assert java_admin.group_offsets(group) == offsets


def test_metadata_too_large(new_topic: Callable[..., str], open_member: OpenMember) -> None:
    topic = new_topic()
    member = open_member("c1")
    wait_for_assignments({member: [(topic, 0)]})
    member.commit({(topic, 0): (1, "x" * 4000)})
    with pytest.raises(ClientFailure) as refused:
        member.commit({(topic, 0): (2, "x" * 5000)})
    assert refused.value.code == "OFFSET_METADATA_TOO_LARGE"
    assert member.committed([(topic, 0)]) == {(topic, 0): (1, "x" * 4000)}


@pytest.mark.parametrize("library_of", BOTH_PROTOCOLS, indirect=True)
def test_members_go_on_where_the_group_was(
    new_topic: Callable[..., str], open_member: OpenMember, confluent: ConfluentClient
) -> None:
    topic = new_topic()
    confluent.produce(topic, [Record(b"%d" % number) for number in range(10)])
    first = open_member("c1")
    wait_for_records([first], 10)
    first.commit({(topic, 0): (4, "")})
    first.leave()
    second = open_member("c1")
    assert [got.offset for got in wait_for_records([second], 6)] == [4, 5, 6, 7, 8, 9]


def test_offsets_of_a_deleted_topic_go(
    new_topic: Callable[..., str],
    confluent: ConfluentClient,
    admin: ConfluentAdmin | JavaAdmin,
    group: str,
) -> None:
    topic, other = new_topic(2), f"{group}.other"
    confluent.create_topic(other)
    admin.alter_group_offsets(group, {(topic, 0): (5, ""), (topic, 1): (6, ""), (other, 0): (7, "")})
    confluent.delete_topic(topic)
    wait_until(lambda: admin.group_offsets(group) == {(other, 0): (7, "")}, "its offsets are gone")


@pytest.mark.parametrize("library_of", BOTH_PROTOCOLS, indirect=True)
def test_a_topic_made_anew_is_read_from_its_start(
    new_topic: Callable[..., str], open_member: OpenMember, confluent: ConfluentClient, group: str
) -> None:
    topic = new_topic()
    confluent.produce(topic, [Record(b"old") for _ in range(5)])
    first = open_member("c1")
    wait_for_records([first], 5)
    first.commit({(topic, 0): (5, "")})
    first.leave()
    confluent.delete_topic(topic)
    admin = ConfluentAdmin(confluent.bootstrap)
    wait_until(lambda: admin.group_offsets(group) == {}, "its offsets are gone")
    new_topic()
    confluent.produce(topic, [Record(b"new") for _ in range(3)])
    second = open_member("c1")
    assert [(got.offset, got.value) for got in wait_for_records([second], 3)] == [
        (0, b"new"),
        (1, b"new"),
        (2, b"new"),
    ]


@pytest.fixture
def worn_topic(new_topic: Callable[..., str], confluent: ConfluentClient) -> str:
    """Offsets 4 to 9 are there; 0 to 3 are deleted."""
    topic = new_topic()
    confluent.produce(topic, [Record(b"%d" % number) for number in range(10)])
    confluent.delete_records(topic, 4)
    return topic


@pytest.mark.parametrize("committed", [None, 2, 11], ids=["nothing", "below-the-start", "beyond-the-end"])
class TestReset:
    """`auto.offset.reset` holds where nothing is committed, and where what is committed is not there."""

    @pytest.fixture(autouse=True)
    def _commit(self, committed: int | None, worn_topic: str, group: str, confluent: ConfluentClient) -> None:
        if committed is not None:
            ConfluentAdmin(confluent.bootstrap).alter_group_offsets(group, {(worn_topic, 0): (committed, "")})

    def test_earliest(self, open_member: OpenMember) -> None:
        member = open_member("c1", auto_offset_reset="earliest")
        assert [got.offset for got in wait_for_records([member], 6)] == [4, 5, 6, 7, 8, 9]

    def test_latest(self, open_member: OpenMember, worn_topic: str, confluent: ConfluentClient) -> None:
        member = open_member("c1", auto_offset_reset="latest")
        wait_for_assignments({member: [(worn_topic, 0)]})

        def is_reading() -> bool:
            confluent.produce(worn_topic, [Record(b"new")])
            return len(member.got) > 0

        wait_until(is_reading, "a new record is read")
        assert {got.value for got in member.got} == {b"new"}

    def test_none(self, open_member: OpenMember, library: Library) -> None:
        member = open_member("c1", auto_offset_reset=NO_RESET[library.name])
        wait_until(lambda: len(member.failures) > 0, "the member is told")
        assert set(member.failures) <= NOWHERE_TO_BEGIN
        assert member.got == []


@pytest.mark.parametrize("library_of", [JAVA], indirect=True)
def test_reset_by_duration(
    new_topic: Callable[..., str], open_member: OpenMember, confluent: ConfluentClient
) -> None:
    """To the first record that is young enough (KIP-1106)."""
    topic = new_topic()
    confluent.produce(topic, [Record(b"old", timestamp_ms=HOUR_AGO_MS - 3_600_000), Record(b"new")])
    member = open_member("c1", auto_offset_reset="by_duration:PT1H30M")
    assert [got.value for got in wait_for_records([member], 1)] == [b"new"]
