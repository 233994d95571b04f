"""Follows one leader: fetches every partition it leads for us over one connection and stores what comes.

What to do with an answer is `replication.follower_step`'s to decide. Batches are stored as the leader stored them. The
leader is told what has changed, and answers with what has: a round costs little however much is followed.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import Final

from moldau.broker.disks import Disks
from moldau.broker.flusher import Flusher
from moldau.broker.parked_fetches import ParkedFetches
from moldau.broker.partitions import Partition
from moldau.cluster.environment import RemoveLater
from moldau.cluster.peer_network import PeerChannel, PeerNetwork, read_answer, request_frame
from moldau.cluster.replication.follower_session import FetchPosition, FollowerSession, PartitionKey
from moldau.cluster.replication.follower_step import LogEnd, Retry, StartOver, Step, Truncate, decide_step
from moldau.cluster.replication.throttle import ReplicationThrottle, is_throttled
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError, PeerError, StorageFault
from moldau.core.ids import BrokerId, TopicId
from moldau.core.ports import Clock, Scheduler
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    PartitionData,
    ReplicaState,
)
from moldau.storage.partition_log import PartitionLog
from moldau.storage.segment import RetiredSegment

_log = logging.getLogger("moldau.replication")

FETCH_VERSION: Final = 16
LEADER_RETRY_MS: Final = 50
"""Before the next try at a leader that has not heard of its new epoch yet."""
THROTTLED_RETRY_MS: Final = 100
"""Before the next look whether a throttled partition may be fetched again."""
LOOK_MS: Final = 500
"""How often every partition is looked at: retention moves the start of a log, and a directory may fail."""
REFUSALS_UNTIL_GONE: Final = 2
NOT_YET: Final = frozenset(
    {
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
)


class _Followed:
    __slots__ = ("is_level", "leader_epoch", "partition", "wait_until_ms")

    def __init__(self, partition: Partition, leader_epoch: int) -> None:
        self.partition = partition
        self.leader_epoch = leader_epoch
        self.wait_until_ms = 0
        self.is_level = False
        """Whether it had all that was committed when it last heard from the leader."""

    @property
    def is_current(self) -> bool:
        return not self.partition.is_leader and self.partition.leader_epoch == self.leader_epoch


class ReplicaFetcher:
    def __init__(
        self,
        broker_id: BrokerId,
        leader: BrokerId,
        network: PeerNetwork,
        *,
        clock: Clock,
        scheduler: Scheduler,
        disks: Disks,
        flusher: Flusher,
        parked_fetches: ParkedFetches,
        settings: Callable[[], BrokerSettings],
        throttle: ReplicationThrottle,
        remove_later: RemoveLater,
        broker_epoch: Callable[[], int],
        on_refused: Callable[[BrokerId], None],
    ) -> None:
        """`on_refused` hears that nobody listens where the leader should."""
        self.leader = leader
        self._broker_id = broker_id
        self._network = network
        self._clock = clock
        self._scheduler = scheduler
        self._disks = disks
        self._flusher = flusher
        self._parked_fetches = parked_fetches
        self._settings = settings
        self._throttle = throttle
        self._remove_later = remove_later
        self._broker_epoch = broker_epoch
        self._on_refused = on_refused
        self._refusals = 0
        self._followed: dict[PartitionKey, _Followed] = {}
        self._asked = FollowerSession()
        self._changed: dict[PartitionKey, None] = {}
        """Those the leader may have to hear of."""
        self._put_off: dict[PartitionKey, None] = {}
        """Those not to be fetched before their time."""
        self._behind: dict[PartitionKey, None] = {}
        """Those fetched that are not level and throttled."""
        self._looked_ms = 0
        self._channel: PeerChannel | None = None
        self._correlation_ids = count(1)
        self._has_news = asyncio.Event()
        self._is_running = False
        self._is_closed = False
        self._is_interrupted = False

    def __len__(self) -> int:
        return len(self._followed)

    def follow(self, partition: Partition) -> None:
        key = (partition.topic_id, partition.index)
        self._followed[key] = _Followed(partition, partition.leader_epoch)
        self._put_off.pop(key, None)
        self._behind.pop(key, None)
        self._changed[key] = None
        if not self._is_running:
            self._is_running = True
            self._scheduler.spawn(self._run())
        self._interrupt()

    def unfollow(self, partition: Partition) -> None:
        key = (partition.topic_id, partition.index)
        self._followed.pop(key, None)
        self._put_off.pop(key, None)
        self._behind.pop(key, None)
        self._changed[key] = None

    def reconnect(self) -> None:
        """The leader's broker came back, perhaps elsewhere."""
        for key in self._put_off:
            self._followed[key].wait_until_ms = 0
        self._interrupt()

    def close(self) -> None:
        self._is_closed = True
        self._followed.clear()
        self._put_off.clear()
        self._behind.clear()
        self._interrupt()

    def _interrupt(self) -> None:
        """A request may be parked at the leader for a while: the next one has other partitions."""
        self._has_news.set()
        self._is_interrupted = True
        if self._channel is not None:
            self._channel.close()
            self._channel = None

    async def _run(self) -> None:
        while not self._is_closed:
            self._has_news.clear()
            self._is_interrupted = False
            if not self._is_anything_due():
                await self._wait()
                continue
            try:
                answer = await self._fetch()
            except (OSError, TimeoutError, LookupError, PeerError) as problem:
                if not self._is_interrupted:
                    await self._wait(self._lost(problem))
                continue
            self._refusals = 0
            await self._take(answer)
        self._is_running = False

    def _is_anything_due(self) -> bool:
        now_ms = self._clock.monotonic_ms()
        return any(
            each.wait_until_ms <= now_ms and each.partition.log is not None
            for each in self._followed.values()
        )

    async def _wait(self, wait_ms: int | None = None) -> None:
        """Until there is something new to follow, or a partition's time has come."""
        if wait_ms is None and self._put_off:
            wait_ms = max(1, self._first_due_ms() - self._clock.monotonic_ms())
        try:
            async with asyncio.timeout(None if wait_ms is None else wait_ms / 1000):
                await self._has_news.wait()
        except TimeoutError:
            pass

    def _lost(self, problem: Exception) -> int:
        """How long to wait before the next try. A broken connection is tried again soon: it shows whether anybody
        is still there."""
        _log.info("broker %d cannot be followed at present: %r", self.leader, problem)
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        self._refusals = self._refusals + 1 if isinstance(problem, ConnectionRefusedError) else 0
        if self._refusals and self._refusals % REFUSALS_UNTIL_GONE == 0:
            self._on_refused(self.leader)
        is_soon = isinstance(problem, ConnectionError) and self._refusals < REFUSALS_UNTIL_GONE
        return LEADER_RETRY_MS if is_soon else self._settings().replica_fetch_backoff_ms

    async def _fetch(self) -> FetchResponse:
        settings = self._settings()
        timeout_s = settings.replica_socket_timeout_ms / 1000
        if self._channel is None:
            self._channel = await self._network.connect(self.leader, timeout_s)
            self._asked.begin()
        # Not before: while we connected we may have come to lead what we followed, and what is written to it since
        # must not be taken for this leader's.
        request = self._request(settings)
        correlation_id = next(self._correlation_ids) & 0x7FFFFFFF
        frame = request_frame(request, FETCH_VERSION, correlation_id, f"broker-{self._broker_id}-fetcher")
        answered = await self._channel.exchange(frame, timeout_s)
        answer = read_answer(FetchResponse, request, FETCH_VERSION, correlation_id, answered)
        if answer.error_code:
            raise PeerError(f"a fetch was refused: {ErrorCode(answer.error_code).name}")
        self._asked.answered(answer.session_id)
        return answer

    def _request(self, settings: BrokerSettings) -> FetchRequest:
        now_ms = self._clock.monotonic_ms()
        if self._asked.is_new:
            self._asked.begin()
        wanted: dict[TopicId, list[FetchPartition]] = {}
        forgotten: dict[TopicId, list[int]] = {}
        for key in self._to_look_at(now_ms):
            topic_id, index = key
            asked = self._wish(key, now_ms)
            if not self._asked.tell(key, asked):
                continue
            if asked is None:
                forgotten.setdefault(topic_id, []).append(index)
                continue
            wanted.setdefault(topic_id, []).append(
                FetchPartition(
                    partition=index,
                    current_leader_epoch=asked.leader_epoch,
                    fetch_offset=asked.offset,
                    last_fetched_epoch=asked.last_epoch,
                    log_start_offset=asked.start_offset,
                    partition_max_bytes=settings.replica_fetch_max_bytes,
                )
            )
        return FetchRequest(
            replica_state=ReplicaState(replica_id=self._broker_id, replica_epoch=self._broker_epoch()),
            max_wait_ms=self._wait_ms_max(settings.replica_fetch_wait_max_ms, now_ms),
            min_bytes=settings.replica_fetch_min_bytes,
            max_bytes=settings.replica_fetch_response_max_bytes,
            session_id=self._asked.session_id,
            session_epoch=self._asked.epoch,
            topics=[
                FetchTopic(topic_id=topic_id, partitions=partitions)
                for topic_id, partitions in wanted.items()
            ],
            forgotten_topics_data=[
                ForgottenTopic(topic_id=topic_id, partitions=indexes)
                for topic_id, indexes in forgotten.items()
            ],
        )

    def _to_look_at(self, now_ms: int) -> Iterable[PartitionKey]:
        """The partitions of which the leader may have been told something else, or nothing."""
        if self._behind and self._throttle.is_exceeded(now_ms):
            for key in list(self._behind):
                self._put_off_for(key, THROTTLED_RETRY_MS)
        for key in [each for each in self._put_off if self._followed[each].wait_until_ms <= now_ms]:
            del self._put_off[key]
            self._changed[key] = None
        changed, self._changed = self._changed, {}
        if self._asked.is_new or now_ms - self._looked_ms >= LOOK_MS:
            self._looked_ms = now_ms
            changed.update(dict.fromkeys(self._followed))
        return changed

    def _wish(self, key: PartitionKey, now_ms: int) -> FetchPosition | None:
        """What is to be fetched of a partition; None for nothing at present."""
        followed = self._followed.get(key)
        log = None if followed is None else followed.partition.log
        if followed is None or log is None or followed.wait_until_ms > now_ms:
            return None
        if not followed.is_level and self._is_throttled(log):
            if self._throttle.is_exceeded(now_ms):
                self._put_off_for(key, THROTTLED_RETRY_MS)
                return None
            self._behind[key] = None
        return FetchPosition(followed.leader_epoch, log.end_offset, log.epochs.latest, log.start_offset)

    def _wait_ms_max(self, wait_ms_max: int, now_ms: int) -> int:
        """Nothing else can be asked while a request is parked: it comes back when a partition that was put off is due,
        as those are whose leader had not heard of them yet."""
        return min(wait_ms_max, self._first_due_ms() - now_ms) if self._put_off else wait_ms_max

    def _first_due_ms(self) -> int:
        return min(self._followed[key].wait_until_ms for key in self._put_off)

    async def _take(self, answer: FetchResponse) -> None:
        unflushed: list[PartitionLog] = []
        for topic in answer.responses:
            for data in topic.partitions:
                key = (topic.topic_id, data.partition_index)
                self._changed[key] = None
                followed, asked = self._followed.get(key), self._asked.told(key)
                if followed is None or not followed.is_current:
                    continue
                log = followed.partition.log
                if log is None or asked is None or log.end_offset != asked.offset:
                    continue
                try:
                    await self._take_one(key, followed, log, data)
                except StorageFault as fault:
                    self._disks.fail(fault)
                    self._put_off_for(key, self._settings().replica_fetch_backoff_ms)
                except ApiError as error:
                    _log.error("%s: what its leader sent was not stored: %s", log.topic_partition, error)
                    self._put_off_for(key, self._settings().replica_fetch_backoff_ms)
                if log.flush_due(self._clock.now_ms()):
                    unflushed.append(log)
        if unflushed:
            await self._flush(unflushed)

    async def _take_one(
        self, key: PartitionKey, followed: _Followed, log: PartitionLog, data: PartitionData
    ) -> None:
        step: Step = decide_step(
            LogEnd(log.end_offset, log.end_offset_for_epoch),
            ErrorCode(data.error_code),
            data.diverging_epoch.epoch,
            data.diverging_epoch.end_offset,
            data.log_start_offset,
        )
        match step:
            case Truncate(offset):
                _log.info(
                    "%s: cut from %d to %d, where it parts from its leader's log, in epoch %d",
                    log.topic_partition, log.end_offset, offset, followed.leader_epoch,
                )  # fmt: skip
                await self._cut(log, log.truncate_to(offset, now_ms=self._clock.now_ms()))
            case StartOver(offset):
                _log.warning(
                    "%s: its leader keeps nothing before %d: starting over there", log.topic_partition, offset
                )
                await self._cut(log, log.truncate_fully_and_start_at(offset, now_ms=self._clock.now_ms()))
            case Retry(error):
                backoff_ms = self._settings().replica_fetch_backoff_ms
                self._put_off_for(key, LEADER_RETRY_MS if error in NOT_YET else backoff_ms)
            case _:
                self._store(followed.partition, log, data)
                followed.is_level = log.end_offset >= data.high_watermark
                if followed.is_level:
                    self._behind.pop(key, None)

    def _store(self, partition: Partition, log: PartitionLog, data: PartitionData) -> None:
        if data.records:
            log.append_as_follower(memoryview(data.records), now_ms=self._clock.now_ms())
            if self._is_throttled(log):
                self._throttle.record(len(data.records), self._clock.monotonic_ms())
        if data.high_watermark > log.high_watermark:
            log.advance_high_watermark(data.high_watermark)
            if partition.waiters:
                self._parked_fetches.appended(partition)
        if log.start_offset < data.log_start_offset <= log.high_watermark:
            log.delete_records_before(data.log_start_offset)

    async def _cut(self, log: PartitionLog, retired: Sequence[RetiredSegment]) -> None:
        """Checkpoints must not promise what was cut: they are written before anything is appended again."""
        for segment in retired:
            self._remove_later(segment, log.config.file_delete_delay_ms)
        for directory in self._disks.online():
            if directory.logs.get(log.topic_partition) is log:
                await self._scheduler.run_in_worker(directory.begin_checkpoints().run)

    async def _flush(self, logs: Sequence[PartitionLog]) -> None:
        """Asking from an offset says that all before it is stored: on disk, where the topic wants that."""
        done = asyncio.Event()
        self._flusher.after_flush(logs, lambda _: done.set())
        await done.wait()

    def _is_throttled(self, log: PartitionLog) -> bool:
        replicas = log.config.follower_throttled_replicas
        return is_throttled(replicas, log.topic_partition.partition, self._broker_id)

    def _put_off_for(self, key: PartitionKey, wait_ms: int) -> None:
        followed = self._followed.get(key)
        if followed is not None:
            followed.wait_until_ms = self._clock.monotonic_ms() + wait_ms
            self._put_off[key] = None
            self._behind.pop(key, None)
            self._changed[key] = None
