"""The class that a declaration produces."""

import pytest

from moldau.protocol.messages import API_NAMES, request_class
from moldau.protocol.messages.groups.offset_commit import OffsetCommitRequest
from moldau.protocol.messages.log.fetch import FetchRequest, FetchResponse, ReplicaState
from moldau.protocol.spec import Versions, fields_of


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [("3", [3], [2, 4]), ("3-5", [3, 5], [2, 6]), ("3+", [3, 99], [2]), ("none", [], [0, 1])],
)
def test_version_ranges(text: str, inside: list[int], outside: list[int]) -> None:
    versions = Versions.parse(text)
    assert all(version in versions for version in inside)
    assert not any(version in versions for version in outside)


@pytest.mark.parametrize("text", ["3", "3-5", "3+", "none"])
def test_version_ranges_print_as_they_are_written(text: str) -> None:
    assert str(Versions.parse(text)) == text


def test_a_request_knows_its_api() -> None:
    assert FetchRequest.API_KEY == 1
    assert Versions(4, 18) == FetchRequest.VERSIONS
    assert 11 not in FetchRequest.FLEXIBLE
    assert 12 in FetchRequest.FLEXIBLE
    assert FetchRequest.RESPONSE is FetchResponse
    assert FetchResponse.VERSIONS == FetchRequest.VERSIONS


def test_requests_by_key() -> None:
    assert request_class(1) is FetchRequest
    assert request_class(8) is OffsetCommitRequest
    assert request_class(4) is None
    for key, name in API_NAMES.items():
        request = request_class(key)
        assert request is not None
        assert (request.API_KEY, request.__name__) == (key, f"{name}Request")
        assert request.RESPONSE.__name__ == f"{name}Response"


def test_fields_in_wire_order() -> None:
    epoch = fields_of(ReplicaState)[1]
    assert (epoch.name, epoch.of, epoch.default, epoch.tag) == ("replica_epoch", "int64", -1, None)


def test_messages_compare_by_value_and_print_their_fields() -> None:
    assert ReplicaState(replica_id=1) == ReplicaState(replica_id=1, replica_epoch=-1)
    assert ReplicaState(replica_id=1) != ReplicaState(replica_id=2)
    assert ReplicaState() != "ReplicaState"
    assert repr(ReplicaState(replica_id=1)) == "ReplicaState(replica_id=1, replica_epoch=-1)"


def test_two_messages_do_not_share_an_array() -> None:
    first, second = (
        FetchRequest(max_wait_ms=0, min_bytes=0, topics=[]),
        FetchRequest(max_wait_ms=0, min_bytes=0, topics=[]),
    )
    assert first.forgotten_topics_data is not second.forgotten_topics_data
