"""Clients that read: a consumer of what is committed, and members of a group."""

import json
from collections.abc import Iterator
from typing import Final

from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.groups.heartbeat import HeartbeatRequest, HeartbeatResponse
from moldau.protocol.messages.groups.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from moldau.protocol.messages.groups.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from moldau.protocol.messages.log.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from moldau.protocol.records.batch import HEADER_SIZE, read_header
from moldau.protocol.records.control import ControlType, read_end_transaction_marker
from moldau.protocol.records.record import iter_records
from sim.history import History, Place
from sim.sim_client import GROUP, TROUBLE, SimClient

FETCH_VERSION: Final = 11
READ_COMMITTED: Final = 1
GROUP_ID: Final = "watchers"
GROUP_PARTITIONS: Final = 4


def visible(
    data: memoryview, aborted: dict[int, list[int]], open_aborted: set[int]
) -> Iterator[tuple[int, bytes | None]]:
    """Offset and value of each record a read_committed consumer sees; None values mark where batches end."""
    position = 0
    while len(data) - position >= HEADER_SIZE:
        header = read_header(data, position)
        if header.size > len(data) - position:
            return
        batch = data[position : position + header.size]
        position += header.size
        for first in list(aborted.get(header.producer_id, ())):
            if header.is_transactional and first <= header.last_offset:
                aborted[header.producer_id].remove(first)
                open_aborted.add(header.producer_id)
        if header.is_control:
            marker = read_end_transaction_marker(batch)
            if marker is not None and marker.control_type is ControlType.ABORT:
                open_aborted.discard(header.producer_id)
        elif not (header.is_transactional and header.producer_id in open_aborted):
            for record in iter_records(batch, decompressed_bytes_max=1 << 20):
                yield record.offset, record.value
        yield header.last_offset, None


class CommittedReader:
    """Reads one partition on and on."""

    def __init__(self, client: SimClient, topic: str, partition: int) -> None:
        self._client = client
        self._place = (topic, partition)
        self.next_offset = 0
        self.records: dict[int, bytes] = {}
        self.high_watermark = -1

    async def read_some(self, wait_ms: int = 300) -> ErrorCode:
        topic, partition = self._place
        request = FetchRequest(
            max_wait_ms=wait_ms,
            min_bytes=1,
            max_bytes=1 << 20,
            isolation_level=READ_COMMITTED,
            topics=[
                FetchTopic(
                    topic=topic,
                    partitions=[
                        FetchPartition(
                            partition=partition, fetch_offset=self.next_offset, partition_max_bytes=1 << 20
                        )
                    ],
                )
            ],
        )
        leader = await self._client.leader(topic, partition)
        try:
            answer = await self._client.ask(leader, request, FETCH_VERSION, FetchResponse)
        except TROUBLE:
            self._client.forget(topic, partition)
            raise
        found = answer.responses[0].partitions[0]
        if found.error_code:
            self._client.forget(topic, partition)
            return ErrorCode(found.error_code)
        self.high_watermark = found.high_watermark
        aborted: dict[int, list[int]] = {}
        for each in found.aborted_transactions or ():
            aborted.setdefault(each.producer_id, []).append(each.first_offset)
        start = self.next_offset
        for offset, value in visible(memoryview(found.records or b""), aborted, set()):
            if value is None:
                self.next_offset = offset + 1
            elif offset >= start:
                self.records[offset] = value
        return ErrorCode.NONE


async def keep_reading(client: SimClient, history: History, topic: str, partition: int) -> None:
    reader = CommittedReader(client, topic, partition)
    while True:
        known = len(reader.records)
        try:
            code = await reader.read_some()
        except TROUBLE:
            code = ErrorCode.NONE
            await client.pause()
        if code not in (ErrorCode.NONE, ErrorCode.OFFSET_OUT_OF_RANGE):
            await client.pause()
        if len(reader.records) > known:
            for offset, value in list(reader.records.items())[known:]:
                history.saw(Place(topic, partition, offset), value)


async def keep_a_member(client: SimClient, history: History) -> None:
    member_id = ""
    while True:
        try:
            member_id = await _one_generation(client, history, member_id)
        except TROUBLE:
            await client.pause()


async def _one_generation(client: SimClient, history: History, member_id: str) -> str:
    host = await client.coordinator(GROUP_ID, GROUP)
    joined = await client.ask(
        host,
        JoinGroupRequest(
            group_id=GROUP_ID,
            session_timeout_ms=2500,
            rebalance_timeout_ms=2500,
            member_id=member_id,
            protocol_type="sim",
            protocols=[JoinGroupRequestProtocol(name="spread", metadata=b"")],
        ),
        5,
        JoinGroupResponse,
        timeout_s=6.0,
    )
    if joined.error_code:
        await client.pause()
        if joined.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            return joined.member_id
        return "" if joined.error_code == ErrorCode.UNKNOWN_MEMBER_ID else member_id
    assignments = []
    if joined.leader == joined.member_id:
        names = sorted(each.member_id for each in joined.members)
        for at, name in enumerate(names):
            owned = list(range(GROUP_PARTITIONS))[at :: len(names)]
            assignments.append(
                SyncGroupRequestAssignment(member_id=name, assignment=json.dumps(owned).encode())
            )
    synced = await client.ask(
        host,
        SyncGroupRequest(
            group_id=GROUP_ID,
            generation_id=joined.generation_id,
            member_id=joined.member_id,
            assignments=assignments,
        ),
        3,
        SyncGroupResponse,
        timeout_s=6.0,
    )
    if synced.error_code:
        await client.pause()
        return "" if synced.error_code == ErrorCode.UNKNOWN_MEMBER_ID else joined.member_id
    for partition in json.loads(bytes(synced.assignment) or b"[]"):
        history.owns(joined.generation_id, partition, joined.member_id)
    beat = HeartbeatRequest(group_id=GROUP_ID, generation_id=joined.generation_id, member_id=joined.member_id)
    while True:
        await client.pause()
        await client.pause()
        answer = await client.ask(host, beat, 3, HeartbeatResponse)
        if answer.error_code == ErrorCode.UNKNOWN_MEMBER_ID:
            return ""
        if answer.error_code:
            return joined.member_id
