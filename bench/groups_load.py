"""Many groups that heartbeat, and one large group that rebalances: what they cost the broker.

python bench/groups_load.py [--groups N] [--members N] [--seconds S] [--large N] [--system moldau|kafka]

Every member is a connection of its own that speaks bare frames. Prints memory before and after the groups are
there, CPU and latency while they heartbeat, and how long the large group takes to form and to rebalance when one
member leaves and comes back. Ends with code 1 when such a rebalance takes 2 s, or a heartbeat is refused.
"""

import argparse
import asyncio
import resource
import statistics
import struct
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from moldau.core.error_codes import ErrorCode
from moldau.protocol import codec
from moldau.protocol.headers import decode_response_header
from moldau.protocol.messages.groups.find_coordinator import FindCoordinatorRequest
from moldau.protocol.messages.groups.heartbeat import HeartbeatRequest
from moldau.protocol.messages.groups.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from moldau.protocol.messages.groups.leave_group import LeaveGroupRequest, MemberIdentity
from moldau.protocol.messages.groups.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from moldau.protocol.spec import Request
from process_cost import cpu_seconds, memory
from systems import SYSTEMS, ServerProcess, create_topic, stop_servers_on_sigterm
from wire_frames import framed

HEARTBEAT_INTERVAL_S = 3.0
"""The default of every client."""
REBALANCE_S_MAX = 2.0
FORMING_AT_ONCE = 500
"""Nobody heartbeats until all are formed, which must not take a session."""
FORM_TIMEOUT_S = 120
SESSION_TIMEOUT_MS = 45_000
REBALANCE_TIMEOUT_MS = 60_000
SUBSCRIPTION = struct.pack(">hih4si", 1, 1, 4, b"race", -1) + struct.pack(">i", 0)
ASSIGNMENT = struct.pack(">hih4siii", 1, 1, 4, b"race", 1, 0, -1)
NOT_YET = {
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
}
JOIN_AGAIN = {ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.ILLEGAL_GENERATION}
RETRY_S = 0.05
HEARTBEAT_VERSION = HeartbeatRequest.VERSIONS.high
LENGTH_BYTES = 4


class Membership:
    """One member of a classic group over a connection of its own."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._group = ""
        self._member_id = ""
        self._heartbeat = b""

    @classmethod
    async def connect(cls, port: int) -> Self:
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def enter(self, group: str) -> None:
        """Joins, or joins again, until it is in a generation and has its assignment."""
        if self._group != group:
            await self._find_coordinator(group)
            self._group = group
        while not await self._join_and_sync():
            pass

    async def heartbeat(self) -> bool:
        """Whether it was refused."""
        self._writer.write(self._heartbeat)
        answer = await self._receive(HeartbeatRequest, HEARTBEAT_VERSION)
        return bool(answer.error_code)

    async def leave(self) -> None:
        identity = MemberIdentity(member_id=self._member_id)
        await self._call(LeaveGroupRequest(group_id=self._group, members=[identity]))
        self._member_id = ""

    def close(self) -> None:
        self._writer.close()

    async def _find_coordinator(self, group: str) -> None:
        request = FindCoordinatorRequest(key_type=0, coordinator_keys=[group])
        while True:
            answer = await self._call(request)
            if answer.coordinators[0].error_code not in NOT_YET:
                return
            await asyncio.sleep(RETRY_S)

    async def _join_and_sync(self) -> bool:
        joined = await self._join()
        if joined.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self._member_id = joined.member_id
            joined = await self._join()
        if joined.error_code in NOT_YET:
            await asyncio.sleep(RETRY_S)
            return False
        assert joined.error_code == 0, ErrorCode(joined.error_code).name
        self._member_id = joined.member_id
        # Only the leader is told of the members.
        assignments = [
            SyncGroupRequestAssignment(member_id=member.member_id, assignment=ASSIGNMENT)
            for member in joined.members
        ]
        request = SyncGroupRequest(
            group_id=self._group,
            generation_id=joined.generation_id,
            member_id=self._member_id,
            protocol_type="consumer",
            protocol_name=joined.protocol_name,
            assignments=assignments,
        )
        code = (await self._call(request)).error_code
        if code in JOIN_AGAIN:
            return False
        assert code == 0, ErrorCode(code).name
        beat = HeartbeatRequest(
            group_id=self._group, generation_id=joined.generation_id, member_id=self._member_id
        )
        self._heartbeat = framed(beat, HEARTBEAT_VERSION)
        return True

    async def _join(self) -> Any:
        protocol = JoinGroupRequestProtocol(name="range", metadata=SUBSCRIPTION)
        request = JoinGroupRequest(
            group_id=self._group,
            session_timeout_ms=SESSION_TIMEOUT_MS,
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
            member_id=self._member_id,
            protocol_type="consumer",
            protocols=[protocol],
        )
        return await self._call(request)

    async def _call(self, request: Request) -> Any:
        version = request.VERSIONS.high
        self._writer.write(framed(request, version))
        return await self._receive(type(request), version)

    async def _receive(self, request: type[Request], version: int) -> Any:
        size = int.from_bytes(await self._reader.readexactly(LENGTH_BYTES), "big")
        frame = await self._reader.readexactly(size)
        _, position = decode_response_header(request.API_KEY, version, frame)
        answer, _ = codec.decode(request.RESPONSE, version, frame, position)
        return answer


@dataclass
class Beats:
    latencies_ms: list[float] = field(default_factory=list)
    refused: int = 0
    late: int = 0
    """Not answered before the next one was due."""


async def form(group: str, members: Sequence[Membership]) -> None:
    """All join at once; returns when each has its assignment."""
    async with asyncio.timeout(FORM_TIMEOUT_S):
        await asyncio.gather(*(member.enter(group) for member in members))


async def form_all(groups: Sequence[Sequence[Membership]]) -> None:
    turn = asyncio.Semaphore(FORMING_AT_ONCE)

    async def form_in_turn(number: int) -> None:
        async with turn:
            await form(f"crowd-{number}", groups[number])

    await asyncio.gather(*(form_in_turn(number) for number in range(len(groups))))


async def beat(member: Membership, offset_s: float, seconds: float, beats: Beats) -> None:
    """Members beat evenly spread over the interval."""
    start = time.monotonic() + offset_s
    for due in range(int(seconds / HEARTBEAT_INTERVAL_S)):
        await asyncio.sleep(start + due * HEARTBEAT_INTERVAL_S - time.monotonic())
        asked = time.perf_counter()
        refused = await member.heartbeat()
        took_s = time.perf_counter() - asked
        beats.latencies_ms.append(took_s * 1000)
        beats.refused += refused
        beats.late += took_s > HEARTBEAT_INTERVAL_S


async def heartbeats(server: ServerProcess, members: Sequence[Membership], seconds: float) -> Beats:
    beats = Beats()
    cpu, began = cpu_seconds(server.pid), time.monotonic()
    step_s = HEARTBEAT_INTERVAL_S / len(members)
    await asyncio.gather(
        *(beat(member, number * step_s, seconds, beats) for number, member in enumerate(members))
    )
    elapsed_s = time.monotonic() - began
    spent_s = cpu_seconds(server.pid) - cpu
    count = len(beats.latencies_ms)
    ordered = sorted(beats.latencies_ms)
    print(
        f"{count} heartbeats, {count / elapsed_s:.0f}/s: broker CPU {100 * spent_s / elapsed_s:.1f} % of a core, "
        f"{spent_s / count * 1e6:.0f} us each; p50 {statistics.median(ordered):.2f} ms, "
        f"p99 {ordered[int(count * 0.99)]:.2f} ms, worst {ordered[-1]:.1f} ms; "
        f"refused {beats.refused}, late {beats.late}",
        flush=True,
    )
    return beats


async def follow(member: Membership, group: str) -> None:
    """Asks again and again whether it must join anew, and does."""
    while True:
        if await member.heartbeat():
            break
        await asyncio.sleep(RETRY_S)
    await member.enter(group)


async def rebalance(group: str, members: Sequence[Membership], newcomers: Sequence[Membership] = ()) -> float:
    """Seconds until every member has its assignment again."""
    began = time.monotonic()
    async with asyncio.timeout(FORM_TIMEOUT_S):
        followers = (follow(member, group) for member in members)
        await asyncio.gather(*(member.enter(group) for member in newcomers), *followers)
    elapsed_s = time.monotonic() - began
    assert not any([await member.heartbeat() for member in (*members, *newcomers)])
    return elapsed_s


async def large_group(port: int, size: int) -> float:
    """The slower of the two rebalances."""
    members = [await Membership.connect(port) for _ in range(size)]
    group = "large"
    began = time.monotonic()
    await form(group, members)
    print(
        f"{size} members: first generation after {time.monotonic() - began:.2f} s, initial delay included",
        flush=True,
    )
    *staying, leaving = members
    await leaving.leave()
    left_s = await rebalance(group, staying)
    came_s = await rebalance(group, staying, [leaving])
    print(
        f"{size} members: rebalanced in {left_s:.2f} s when one left, {came_s:.2f} s when one came",
        flush=True,
    )
    for member in members:
        member.close()
    return max(left_s, came_s)


async def run(server: ServerProcess, arguments: argparse.Namespace) -> int:
    idle = memory(server.pid)
    groups = [
        [await Membership.connect(server.port) for _ in range(arguments.members)]
        for _ in range(arguments.groups)
    ]
    everybody = [member for group in groups for member in group]
    connected = memory(server.pid)
    began = time.monotonic()
    await form_all(groups)
    formed = memory(server.pid)
    print(
        f"{len(groups)} groups of {arguments.members} formed in {time.monotonic() - began:.1f} s; broker RSS "
        f"{idle.rss_mb:.0f} MB idle, {connected.rss_mb:.0f} connected, {formed.rss_mb:.0f} formed",
        flush=True,
    )
    beats = await heartbeats(server, everybody, arguments.seconds)
    print(f"broker RSS {memory(server.pid).rss_mb:.0f} MB after the heartbeats", flush=True)
    for member in everybody:
        member.close()
    slowest_s = await large_group(server.port, arguments.large)
    passed = slowest_s < REBALANCE_S_MAX and beats.refused == 0
    print(f"rebalance at most {REBALANCE_S_MAX} s, no heartbeat refused: {'pass' if passed else 'FAIL'}")
    return 0 if passed else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--groups", type=int, default=1000)
    parser.add_argument("--members", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--large", type=int, default=200)
    parser.add_argument("--system", choices=sorted(SYSTEMS), default="moldau")
    arguments = parser.parse_args()
    stop_servers_on_sigterm()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with (
        tempfile.TemporaryDirectory(prefix="moldau-groups-") as folder,
        SYSTEMS[arguments.system](Path(folder) / "server") as server,
    ):
        create_topic(server, 1)
        return asyncio.run(run(server, arguments))


if __name__ == "__main__":
    sys.exit(main())
