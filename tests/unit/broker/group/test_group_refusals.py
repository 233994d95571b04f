"""Whatever is asked of the coordinator can be refused, in every version."""

import pytest

from moldau.broker.group.machine import DECIDERS
from moldau.broker.group.refusals import refused
from moldau.core.error_codes import ErrorCode
from moldau.protocol.codec import encode
from moldau.protocol.messages.groups.heartbeat import HeartbeatRequest, HeartbeatResponse
from moldau.protocol.messages.groups.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
)
from moldau.protocol.spec import Request

CASES = [
    (request, version)
    for request in DECIDERS
    for version in range(request.VERSIONS.low, request.VERSIONS.high + 1)
]


@pytest.mark.parametrize(
    ("request_class", "version"), CASES, ids=lambda case: getattr(case, "__name__", case)
)
def test_every_request_in_every_version(request_class: type[Request], version: int) -> None:
    reply = refused(request_class(), version, ErrorCode.NOT_COORDINATOR)
    assert isinstance(reply, request_class.RESPONSE)
    assert encode(reply, version)


def test_heartbeats_are_not_troubled_while_the_group_is_loaded() -> None:
    request = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
    reply = refused(request, 4, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    assert isinstance(reply, HeartbeatResponse) and reply.error_code == ErrorCode.NONE


def test_offset_fetch_says_it_where_each_version_can() -> None:
    topic = OffsetFetchRequestTopic(name="t", partition_indexes=[0, 1])
    old = refused(OffsetFetchRequest(group_id="g", topics=[topic]), 1, ErrorCode.NOT_COORDINATOR)
    assert isinstance(old, OffsetFetchResponse)
    assert [partition.error_code for partition in old.topics[0].partitions] == [16, 16]
    newer = refused(OffsetFetchRequest(group_id="g", topics=[topic]), 2, ErrorCode.NOT_COORDINATOR)
    assert isinstance(newer, OffsetFetchResponse) and (newer.error_code, newer.topics) == (16, [])
    groups = [OffsetFetchRequestGroup(group_id=name, topics=None) for name in "gh"]
    batched = refused(OffsetFetchRequest(groups=groups), 8, ErrorCode.NOT_COORDINATOR)
    assert isinstance(batched, OffsetFetchResponse)
    assert [(group.group_id, group.error_code) for group in batched.groups] == [("g", 16), ("h", 16)]
