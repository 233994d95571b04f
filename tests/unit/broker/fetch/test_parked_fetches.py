"""A parked fetch is looked at when something was appended, times out once, and leaves no trace."""

from moldau.broker.fetch.parked_fetches import ParkedFetch, ParkedFetches
from moldau.broker.hosting.hosted_partitions import Partition
from moldau.core.ids import TOPIC_ID_ZERO
from moldau.testing.simulation.sim_clock import SimClock


class Reader:
    """Answers once `ready`; remembers every attempt."""

    def __init__(self) -> None:
        self.ready = False
        self.attempts: list[bool] = []

    def __call__(self, is_final: bool) -> bool:
        self.attempts.append(is_final)
        return self.ready or is_final


def parked(partitions: int = 2) -> tuple[SimClock, ParkedFetches, list[Partition], Reader, ParkedFetch]:
    clock = SimClock()
    fetches = ParkedFetches(clock)
    hosted = [Partition("t", TOPIC_ID_ZERO, index, None, 0) for index in range(partitions)]
    reader = Reader()
    fetch = ParkedFetch(reader, hosted)
    fetches.park(fetch, 500)
    return clock, fetches, hosted, reader, fetch


def nothing_left(clock: SimClock, fetches: ParkedFetches, hosted: list[Partition]) -> bool:
    return len(fetches) == 0 and not any(partition.waiters for partition in hosted) and clock.pending == 0


def test_many_appends_in_one_turn_are_one_attempt() -> None:
    clock, fetches, hosted, reader, _ = parked()
    for _ in range(10):
        fetches.appended(hosted[0])
        fetches.appended(hosted[1])
    reader.ready = True
    clock.advance()
    assert reader.attempts == [False]
    assert nothing_left(clock, fetches, hosted)


def test_not_enough_yet_waits_on_and_the_deadline_answers() -> None:
    clock, fetches, hosted, reader, _ = parked()
    fetches.appended(hosted[0])
    clock.advance(499)
    assert reader.attempts == [False]
    clock.advance(1)
    assert reader.attempts == [False, True]
    assert nothing_left(clock, fetches, hosted)
    clock.advance(10_000)
    assert reader.attempts == [False, True]


def test_a_client_that_left_is_not_answered() -> None:
    clock, fetches, hosted, reader, fetch = parked()
    fetches.appended(hosted[0])
    fetches.cancel(fetch)
    clock.advance(10_000)
    assert reader.attempts == []
    assert nothing_left(clock, fetches, hosted)
