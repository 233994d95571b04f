"""Drives a group coordinator the way a broker does, with a clock, a log and timers that are plain values."""

from collections.abc import Callable, Hashable

from moldau.broker.group.call import GroupOutcome
from moldau.broker.group.client import ClientFacts
from moldau.broker.group.facts import OffsetCommitted, TransactionEnded, is_durable
from moldau.broker.group.machine import GroupMachine
from moldau.broker.group.records import from_record, to_record
from moldau.broker.group.settings import ConsumerSettings, GroupSettings
from moldau.core.ids import NO_PRODUCER_ID, Millis, ProducerId
from moldau.core.machine import CancelTimer, SetTimer
from moldau.protocol.codec import decode, encode
from moldau.protocol.spec import Request, Response
from scenarios.group.fake_topics import FakeTopics

Record = tuple[bytes, bytes | None, ProducerId]
LogEntry = Record | TransactionEnded


class GroupRunner:
    def __init__(self, settings: GroupSettings, see: Callable[[GroupOutcome], None] = lambda _: None) -> None:
        self.settings = settings
        self.consumer_settings = ConsumerSettings()
        self.topics = FakeTopics()
        self.groups = self.new_machine()
        self.now_ms = Millis(0)
        self.log: list[LogEntry] = []
        self.timers: dict[Hashable, Millis] = {}
        self.waiting: dict[int, tuple[Request, int]] = {}
        """Requests without an answer, by their id, with their versions."""
        self.answers: dict[int, Response] = {}
        self._see = see
        self.next_request_id = 1

    def new_machine(self) -> GroupMachine:
        return GroupMachine(self.settings, self.topics, lambda _: self.consumer_settings)

    def start(self) -> None:
        self.run(self.groups.decide_loaded(self.now_ms))

    def ask(self, request: Request, version: int, client: ClientFacts) -> int:
        """The request's id. Both ways go through the codec, which refuses what a version cannot carry."""
        request_id = self.next_request_id
        self.next_request_id += 1
        arrived, _ = decode(type(request), version, encode(request, version))
        self.waiting[request_id] = (arrived, version)
        self.run(self.groups.decide(request_id, arrived, version, client, self.now_ms, f"{request_id}"))
        return request_id

    def run(self, outcome: GroupOutcome) -> None:
        for fact in outcome.facts:
            if is_durable(fact):
                producer_id = fact.producer_id if isinstance(fact, OffsetCommitted) else NO_PRODUCER_ID
                self.log.append((*to_record(fact), producer_id))
            elif isinstance(fact, TransactionEnded):
                self.log.append(fact)
            self.groups.replay(fact)
        for timer in outcome.timers:
            if isinstance(timer, SetTimer):
                self.timers[timer.key] = timer.deadline_ms
            else:
                assert isinstance(timer, CancelTimer)
                self.timers.pop(timer.key, None)
        for answer in outcome.answers:
            request, version = self.waiting.pop(answer.request_id)
            assert isinstance(answer.reply, request.RESPONSE)
            self.answers[answer.request_id] = decode(
                request.RESPONSE, version, encode(answer.reply, version)
            )[0]
        self._see(outcome)

    def next_timer(self) -> tuple[Hashable, Millis] | None:
        return min(self.timers.items(), key=lambda timer: (timer[1], repr(timer[0])), default=None)

    def fire_next_timer(self) -> Hashable:
        timer = self.next_timer()
        assert timer is not None
        key, deadline_ms = timer
        del self.timers[key]
        self.now_ms = max(self.now_ms, deadline_ms)
        self.run(self.groups.decide_timer(key, self.now_ms))
        return key

    def advance(self, span_ms: int) -> None:
        end_ms = Millis(self.now_ms + span_ms)
        while (timer := self.next_timer()) is not None and timer[1] <= end_ms:
            self.fire_next_timer()
        self.now_ms = end_ms

    def crash(self) -> list[int]:
        """Everything but the log is gone. Returns the requests that will never be answered."""
        lost = list(self.waiting)
        self.waiting.clear()
        self.timers.clear()
        self.groups = self.new_machine()
        replay_log(self.groups, self.log)
        self.run(self.groups.decide_loaded(self.now_ms))
        return lost


def loaded(settings: GroupSettings, log: list[LogEntry]) -> GroupMachine:
    groups = GroupMachine(settings)
    replay_log(groups, log)
    return groups


def replay_log(groups: GroupMachine, log: list[LogEntry]) -> None:
    for entry in log:
        fact = entry if isinstance(entry, TransactionEnded) else from_record(*entry)
        if fact is not None:
            groups.replay(fact)
