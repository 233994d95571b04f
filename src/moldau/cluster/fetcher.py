"""Fetches from one leader, over one connection, every partition that follows it.

`FetchPlan` says what to ask for and `FollowerLogs` stores the answers. Owns the connection and the loop.
"""

import asyncio
import logging
from collections.abc import Callable
from itertools import count
from typing import Final

from moldau.broker.hosting.disks import Disks
from moldau.broker.hosting.hosted_partitions import Partition
from moldau.cluster.fetch_plan import FetchPlan, FollowedPartition
from moldau.cluster.follower_logs import FollowerLogs
from moldau.cluster.peer_network import PeerChannel, PeerNetwork, read_answer, request_frame
from moldau.cluster.replication.follower_step import Retry, Store
from moldau.cluster.replication.leader_session import PartitionKey
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError, PeerError, StorageFault
from moldau.core.ids import BrokerId
from moldau.core.ports import Clock, Scheduler
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.protocol.messages.log.fetch import FetchResponse, PartitionData
from moldau.storage.log.partition_log import PartitionLog

_log = logging.getLogger("moldau.replication")

FETCH_VERSION: Final = 16
LEADER_RETRY_MS: Final = 50
"""The wait before a retry at a leader that does not know its new epoch yet."""
REFUSALS_UNTIL_DEAD: Final = 2
NOT_LEADER_YET: Final = frozenset(
    {
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
)


class ReplicaFetcher:
    def __init__(
        self,
        broker_id: BrokerId,
        leader: BrokerId,
        network: PeerNetwork,
        plan: FetchPlan,
        logs: FollowerLogs,
        *,
        clock: Clock,
        scheduler: Scheduler,
        disks: Disks,
        settings: Callable[[], BrokerSettings],
        broker_epoch: Callable[[], int],
        on_refused: Callable[[BrokerId], None],
    ) -> None:
        """`on_refused` is called when the leader's address keeps refusing connections."""
        self.leader = leader
        self._network = network
        self._plan = plan
        self._logs = logs
        self._clock = clock
        self._scheduler = scheduler
        self._disks = disks
        self._settings = settings
        self._broker_epoch = broker_epoch
        self._on_refused = on_refused
        self._client_id = f"broker-{broker_id}-fetcher"
        self._refusals = 0
        self._channel: PeerChannel | None = None
        self._correlation_ids = count(1)
        self._has_news = asyncio.Event()
        self._is_running = False
        self._is_closed = False
        self._is_interrupted = False

    def __len__(self) -> int:
        return len(self._plan)

    def follow(self, partition: Partition) -> None:
        self._plan.follow(partition)
        if not self._is_running:
            self._is_running = True
            self._scheduler.spawn(self._run())
        self._interrupt()

    def unfollow(self, partition: Partition) -> None:
        self._plan.unfollow(partition)

    def reconnect(self) -> None:
        """The leader has registered again, perhaps at another address."""
        self._plan.end_delays()
        self._interrupt()

    def close(self) -> None:
        self._is_closed = True
        self._plan.clear()
        self._interrupt()

    def _interrupt(self) -> None:
        """A fetch may be parked at the leader for a while: it is given up, for one with other partitions."""
        self._has_news.set()
        self._is_interrupted = True
        self._disconnect()

    def _disconnect(self) -> None:
        if self._channel is not None:
            self._channel.close()
            self._channel = None

    async def _run(self) -> None:
        while not self._is_closed:
            self._has_news.clear()
            self._is_interrupted = False
            if not self._plan.is_anything_due():
                await self._wait(self._until_due_ms())
                continue
            try:
                answer = await self._fetch()
            except (OSError, TimeoutError, LookupError, PeerError) as problem:
                if not self._is_interrupted:
                    await self._wait(self._failed(problem))
                continue
            self._refusals = 0
            await self._take(answer)
        self._is_running = False

    def _until_due_ms(self) -> int | None:
        due_ms = self._plan.next_due_ms()
        return None if due_ms is None else max(1, due_ms - self._clock.monotonic_ms())

    async def _wait(self, wait_ms: int | None) -> None:
        """Returns when there is something new to follow, or the time is over."""
        try:
            async with asyncio.timeout(None if wait_ms is None else wait_ms / 1000):
                await self._has_news.wait()
        except TimeoutError:
            pass

    def _failed(self, problem: Exception) -> int:
        """How long to wait before the next attempt. A broken connection is retried soon: that shows whether the
        leader's process still exists."""
        _log.info("cannot fetch from broker %d: %r", self.leader, problem)
        self._disconnect()
        self._refusals = self._refusals + 1 if isinstance(problem, ConnectionRefusedError) else 0
        if self._refusals and self._refusals % REFUSALS_UNTIL_DEAD == 0:
            self._on_refused(self.leader)
        is_soon = isinstance(problem, ConnectionError) and self._refusals < REFUSALS_UNTIL_DEAD
        return LEADER_RETRY_MS if is_soon else self._settings().replica_fetch_backoff_ms

    async def _fetch(self) -> FetchResponse:
        settings = self._settings()
        timeout_s = settings.replica_socket_timeout_ms / 1000
        if self._channel is None:
            self._channel = await self._network.connect(self.leader, timeout_s)
            self._plan.begin_session()
        # Built only now: while we connected, this broker may have become the leader of a partition it followed, and
        # records written to it since must not be taken for the old leader's.
        request = self._plan.request(settings, self._broker_epoch())
        correlation_id = next(self._correlation_ids) & 0x7FFFFFFF
        frame = request_frame(request, FETCH_VERSION, correlation_id, self._client_id)
        answered = await self._channel.exchange(frame, timeout_s)
        answer = read_answer(FetchResponse, request, FETCH_VERSION, correlation_id, answered)
        if answer.error_code:
            raise PeerError(f"the leader refused a fetch: {ErrorCode(answer.error_code).name}")
        self._plan.session_answered(answer.session_id)
        return answer

    async def _take(self, answer: FetchResponse) -> None:
        unflushed: list[PartitionLog] = []
        for topic in answer.responses:
            for data in topic.partitions:
                key = (topic.topic_id, data.partition_index)
                found = self._plan.answered(key)
                if found is None:
                    continue
                followed, log = found
                await self._take_partition(key, followed, log, data)
                if log.flush_due(self._clock.now_ms()):
                    unflushed.append(log)
        if unflushed:
            await self._logs.flush(unflushed)

    async def _take_partition(
        self, key: PartitionKey, followed: FollowedPartition, log: PartitionLog, data: PartitionData
    ) -> None:
        backoff_ms = self._settings().replica_fetch_backoff_ms
        try:
            step = await self._logs.take(followed.partition, log, data)
        except StorageFault as fault:
            self._disks.fail(fault)
            self._plan.delay(key, backoff_ms)
        except ApiError as error:
            _log.error("%s: records from the leader were not stored: %s", log.topic_partition, error)
            self._plan.delay(key, backoff_ms)
        else:
            match step:
                case Retry(reason):
                    self._plan.delay(key, LEADER_RETRY_MS if reason in NOT_LEADER_YET else backoff_ms)
                case Store():
                    self._plan.stored(key, is_caught_up=log.end_offset >= data.high_watermark)
