"""`kill -9` in the middle of a load, and the power going out on top of it: what was promised is still there.

Fifty kills in ten journeys. A journey is one data directory through five kills; its seed decides which producers run,
when the broker is killed, whether they go on against the next one, and what is damaged in between.
"""

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from compat.moldau_broker import MoldauBroker
from compat.server_process import wait_until
from e2e.conversation import LATEST, create_topic, list_offset
from e2e.dead_log import DeadPartition, base_offset, hurt
from e2e.load import Content, LoadProducer, Place, drive, origin_of, read_everything
from e2e.wire import WireClient

JOURNEYS = 10
KILLS = 5

FLUSHED = "flushed"
CACHED = "cached"
COMPACTED = "compacted"
SMALL_SEGMENTS = {"internal.segment.bytes": "16384", "index.interval.bytes": "512"}
TOPICS = {
    FLUSHED: {**SMALL_SEGMENTS, "flush.messages": "1"},
    CACHED: SMALL_SEGMENTS,
    COMPACTED: {**SMALL_SEGMENTS, "cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01"},
}
PLACES: list[Place] = [(FLUSHED, 0), (CACHED, 0), (CACHED, 1), (COMPACTED, 0)]

SETTINGS = {
    "log.flush.offset.checkpoint.interval.ms": "40",
    "log.initial.task.delay.ms": "0",
    "log.cleaner.backoff.ms": "40",
    "log.cleaner.dedupe.buffer.size": "2000000",
}


class Journey:
    """A data directory with its broker, and everything that must be found in it."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.rng = Random(seed)
        self.broker = MoldauBroker(folder, SETTINGS)
        self.promised: dict[Place, dict[int, Content]] = {place: {} for place in PLACES}
        self.producers: list[LoadProducer] = []
        self.notes: list[str] = []

    def begin(self) -> None:
        self.broker.start()
        with WireClient(self.broker.port) as client:
            for topic, configs in TOPICS.items():
                partitions = sum(place[0] == topic for place in PLACES)
                create_topic(client, topic, partitions, configs)

    def load(self, number: int) -> None:
        """Returns in the middle of it: some records are acknowledged, others are on their way."""
        rng = self.rng
        names = [f"round{number}-producer{index}" for index in range(rng.randrange(1, 4))]
        self.producers += [LoadProducer(self.broker.bootstrap, name, PLACES, rng) for name in names]
        acknowledged = sum(producer.acknowledged_count for producer in self.producers)
        drive(self.producers, acknowledged + rng.randrange(50, 800))

    def give_up_producers(self) -> None:
        for producer in self.producers:
            producer.give_up()
            self._remember(producer)
        self.producers = []

    def lose_power(self) -> None:
        """Damages the files, then forgets those promises that a power failure may break."""
        for place in PLACES:
            dead = DeadPartition(self.broker.log_dir, *place)
            durable = dead.recovery_point
            if place[0] == FLUSHED:
                durable = max([durable, *(offset + 1 for offset in self.promised[place])])
            elif place[0] == COMPACTED:
                # What the cleaner rewrote is on disk before it counts, whatever the recovery point says; the active
                # segment is the one it leaves alone.
                durable = max(durable, base_offset(dead.segments()[-1]))
            assert dead.end_offset() >= durable, f"{place}: the recovery point is past the end of the log"
            self.notes.append(hurt(dead, durable, self.rng))
            end = dead.end_offset()
            assert end >= durable, "the test damaged what was durable"
            kept = {offset: content for offset, content in self.promised[place].items() if offset < end}
            self.promised[place] = kept

    def kill_during_recovery(self) -> None:
        log = (self.broker.folder / "interrupted.log").open("ab")
        with log, subprocess.Popen(self.broker.command(), stdout=log, stderr=log) as process:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(self.rng.uniform(0.1, 0.6))
            process.kill()

    def restart(self) -> None:
        expected_ends = {place: DeadPartition(self.broker.log_dir, *place).end_offset() for place in PLACES}
        self.broker.start()
        with WireClient(self.broker.port) as client:
            for place, expected in expected_ends.items():
                end = list_offset(client, place[0], LATEST, place[1])
                if self.producers:  # They are writing again already.
                    assert end >= expected, f"{place} ends at {end}, {expected} was whole on disk"
                else:
                    assert end == expected, f"{place} ends at {end}, {expected} was whole on disk"

    def finish_producers(self) -> None:
        """Those that lived through the kill repeat what was not acknowledged; nothing of it may fail."""
        for producer in self.producers:
            producer.flush()
            assert not producer.failures, f"{producer.name}: {producer.failures[0]}"
            assert not producer.outstanding, f"{producer.name}: {producer.outstanding} records were not sent"
            self._remember(producer)

    def check(self) -> None:
        found = read_everything(self.broker.bootstrap, PLACES)
        for place, records in found.items():
            self._check_same(place, records)
            self._check_order(place, records)
            if place[0] == COMPACTED:
                self._check_last_of_each_key(records)
            else:
                assert list(records) == list(range(len(records))), f"{place} has a gap"
                lost = self.promised[place].keys() - records.keys()
                assert not lost, (
                    f"{place}: {len(lost)} acknowledged records are gone, offsets {sorted(lost)[:5]}"
                )
            self.promised[place].update(records)
        for place in PLACES:
            if place[0] != COMPACTED:
                # What the broker is writing at this moment has such a name too, but not for long.
                dead = DeadPartition(self.broker.log_dir, *place)
                wait_until(
                    lambda dead=dead: not dead.leftovers(), f"what lay about in {place} is cleared away"
                )

    def _check_same(self, place: Place, records: dict[int, Content]) -> None:
        promised = self.promised[place]
        for offset, content in records.items():
            assert promised.get(offset, content) == content, f"{place}: another record at offset {offset}"

    def _check_order(self, place: Place, records: dict[int, Content]) -> None:
        """Each producer's records in the order it sent them, none twice; none missing where nothing is compacted."""
        numbers: dict[str, list[int]] = {}
        for _, value in records.values():
            origin = origin_of(value)
            numbers.setdefault(origin.producer, []).append(origin.number)
        for producer, sent in numbers.items():
            expected = sorted(set(sent)) if place[0] == COMPACTED else list(range(len(sent)))
            assert sent == expected, f"{place}: {producer}'s records are {_first_difference(sent, expected)}"

    def _check_last_of_each_key(self, records: dict[int, Content]) -> None:
        assert list(records) == sorted(records)
        place = (COMPACTED, 0)
        last_promised = {key: offset for offset, (key, _) in sorted(self.promised[place].items())}
        last_found = {key: offset for offset, (key, _) in records.items()}
        for key, offset in last_promised.items():
            assert last_found.get(key, -1) >= offset, f"the last record of {key!r}, offset {offset}, is gone"

    def _remember(self, producer: LoadProducer) -> None:
        for place, records in producer.acknowledged.items():
            self.promised[place].update(records)


def _first_difference(sent: list[int], expected: list[int]) -> str:
    at = next(
        (index for index, pair in enumerate(zip(sent, expected, strict=False)) if pair[0] != pair[1]),
        min(len(sent), len(expected)),
    )
    return f"...{sent[max(0, at - 3) : at + 4]} from the {at}th on, expected {expected[at : at + 4]}"


@pytest.fixture
def journey(tmp_path: Path, seed: int) -> Iterator[Journey]:
    journey = Journey(tmp_path / "broker", seed)
    try:
        yield journey
    finally:
        journey.broker.kill9()
        for producer in journey.producers:
            producer.give_up()


@contextlib.contextmanager
def replayable(journey: Journey, seed: int, number: int) -> Iterator[None]:
    try:
        yield
    except BaseException as failure:
        failure.add_note(
            f"journey {seed}, kill {number}; again: pytest 'tests/e2e/test_kill9.py::{TEST}[{seed}]'\n"
            f"the files are in {journey.broker.log_dir}\n" + "\n".join(journey.notes)
        )
        raise


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(JOURNEYS))
def test_nothing_promised_is_lost_or_doubled(journey: Journey, seed: int) -> None:
    journey.begin()
    for number in range(KILLS):
        with replayable(journey, seed, number):
            journey.notes = []
            journey.load(number)
            journey.broker.kill9()
            has_power = journey.rng.random() < 0.5
            if not has_power or journey.rng.random() < 0.3:
                # A producer that outlives its acknowledged records cannot go on, in Kafka neither.
                journey.give_up_producers()
            if not has_power:
                journey.lose_power()
            if journey.rng.random() < 0.2:
                journey.kill_during_recovery()
            journey.restart()
            journey.finish_producers()
            journey.check()


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1000])
def test_a_clean_stop_under_load(journey: Journey) -> None:
    """Producers go on against the next process as if nothing had been."""
    journey.begin()
    for number in range(3):
        journey.load(number)
        assert journey.broker.stop() == 0
        journey.restart()
        journey.finish_producers()
        journey.check()
    assert "Traceback" not in journey.broker.log_path.read_text()


TEST = test_nothing_promised_is_lost_or_doubled.__name__
