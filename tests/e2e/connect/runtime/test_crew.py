"""The worker's side without Spark: shifts are given to it as the driver would, in threads of the test's own process."""

import logging
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from e2e.connect.runtime.driver_kit import Reader, eventually, file_sink, file_source, plan_of
from moldau.pipeline.connect.runtime.plan import ConnectorPlan
from moldau.pipeline.connect.runtime.source_offsets import ensure_offsets_topic
from moldau.pipeline.spark.connectors.task_orders import RunState, ShiftOrder, TaskOrder, TaskReport
from moldau.pipeline.spark.connectors.worker.shift import Crew

DEADLINE_S = 60.0
ENVIRONMENT = {
    "config.providers": "env",
    "config.providers.env.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
}


class Shift:
    """Sends one shift after the other when it is asked, with the tasks that are wanted now."""

    def __init__(self) -> None:
        self.crew = Crew()
        self.wanted: dict[str, TaskOrder] = {}

    def start(self, plan: ConnectorPlan, run: str) -> None:
        self.wanted[run] = TaskOrder(plan, 0, run)

    def wait(self, run: str, what: Callable[[TaskReport], object]) -> TaskReport:
        found: list[TaskReport] = []

        def look() -> bool:
            report = self.crew.run(ShiftOrder(tuple(self.wanted.values()), 0.05))
            found[:] = [one for one in report.tasks if one.run == run and what(one)]
            return bool(found)

        eventually(look, f"the run {run}", DEADLINE_S)
        return found[0]


@pytest.fixture
def shift() -> Iterator[Shift]:
    shift = Shift()
    yield shift
    shift.wanted = {}
    shift.crew.run(ShiftOrder((), 0.0))


@pytest.fixture
def own_connectors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "own_connectors"))


def test_a_task_that_does_not_return_is_replaced(
    shift: Shift, servers: str, name: str, own_connectors: None
) -> None:
    config = {"task.call.timeout.ms": "1000"}
    shift.start(plan_of(servers, name, "source", "trial_connectors:SleepySource", config), "first")
    failed = shift.wait("first", lambda one: one.state is RunState.FAILED)
    assert failed.error is not None
    assert failed.error.startswith("poll has not returned within 1000 ms (task.call.timeout.ms)")
    assert "time.sleep" in failed.trace
    # The driver starts it again while the old thread still sleeps.
    shift.wanted.clear()
    shift.start(plan_of(servers, name, "source", "trial_connectors:SleepySource", config), "second")
    shift.wait("second", lambda one: one.state is RunState.RUNNING)


def test_two_runs_of_a_task_follow_each_other(
    shift: Shift, servers: str, name: str, reader: Reader, tmp_path: Path
) -> None:
    file = tmp_path / "lines"
    file.write_text("one\n")
    shift.start(file_source(servers, name, file, name), "first")
    shift.wait("first", lambda one: one.written == 1)
    shift.wanted.clear()
    shift.start(file_source(servers, name, file, name, generation=1), "second")
    shift.wait("first", lambda one: one.state is RunState.ENDED)
    with file.open("a") as out:
        out.write("two\n")
    shift.wait("second", lambda one: one.written == 1)
    assert [one.value() for one in reader.wait(2)] == [b"one", b"two"]


def test_a_sink_goes_on_behind_what_it_has_flushed(
    shift: Shift, servers: str, name: str, producer: Producer, tmp_path: Path
) -> None:
    file = tmp_path / "lines"
    for number in range(10):
        producer.produce(name, f"{number}")
    producer.flush()
    shift.start(file_sink(servers, name, file, name, flush_ms=60_000), "first")
    shift.wait("first", lambda one: one.written == 10)
    shift.wanted.clear()
    shift.wait("first", lambda one: one.state is RunState.ENDED)
    producer.produce(name, "10")
    producer.flush()
    shift.start(file_sink(servers, name, file, name, generation=1), "second")
    shift.wait("second", lambda one: one.written == 1 and "10" in file.read_text().splitlines())
    assert file.read_text().splitlines() == [f"{number}" for number in range(11)]


def test_a_sink_that_rewinds_gets_the_records_again(
    shift: Shift, servers: str, name: str, producer: Producer, tmp_path: Path, own_connectors: None
) -> None:
    file = tmp_path / "lines"
    for number in range(10):
        producer.produce(name, f"{number}")
    producer.flush()
    config = {"topics": name, "file": str(file)}
    shift.start(plan_of(servers, name, "sink", "trial_connectors:RewindingSink", config), "first")
    shift.wait("first", lambda one: one.written >= 14)
    found = file.read_text().splitlines()
    # Once from the beginning, then from the record at 6.
    again = found.index("9") + 1
    assert found[:again] == [f"{number}" for number in range(10)]
    assert found[again:] == ["6", "7", "8", "9"]


def test_a_source_waits_for_an_open_transaction_among_the_offsets(
    shift: Shift, servers: str, name: str, tmp_path: Path
) -> None:
    file = tmp_path / "lines"
    file.write_text("one\n")
    ensure_offsets_topic(AdminClient({"bootstrap.servers": servers}), "connect-offsets")
    another = Producer({"bootstrap.servers": servers, "transactional.id": name})
    another.init_transactions()
    another.begin_transaction()
    another.produce("connect-offsets", b'{"position":1}', b'["another",{"filename":"f"}]')
    another.flush()
    shift.start(file_source(servers, name, file, name), "first")
    shift.wait("first", lambda one: one.retrying == "waiting for open transactions in connect-offsets")
    another.abort_transaction()
    shift.wait("first", lambda one: one.written == 1 and one.retrying is None)


def test_a_transaction_lasts_as_long_as_its_interval(
    shift: Shift, servers: str, name: str, reader: Reader, tmp_path: Path
) -> None:
    file = tmp_path / "lines"
    file.write_text("one\n")
    config = {"transaction.boundary": "interval", "transaction.boundary.interval.ms": "600000"}
    shift.start(file_source(servers, name, file, name, config=config), "first")
    shift.wait("first", lambda one: one.polled == 1)
    with file.open("a") as out:
        out.write("two\n")
    assert shift.wait("first", lambda one: one.polled == 2).written == 0
    assert reader.more() == 0
    # A task that is asked to end commits what it has.
    shift.wanted.clear()
    shift.wait("first", lambda one: one.state is RunState.ENDED)
    assert [one.value() for one in reader.wait(2)] == [b"one", b"two"]


def test_a_worker_that_the_driver_has_forgotten_ends_its_tasks(
    shift: Shift, servers: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moldau.pipeline.spark.connectors.worker.shift.LEASE_S", 1.0)
    file = tmp_path / "lines"
    file.write_text("one\n")
    shift.start(file_source(servers, name, file, name), "first")
    shift.wait("first", lambda one: one.written == 1)
    thread = next(iter(shift.crew._running.values()))
    end = time.monotonic() + DEADLINE_S
    while not thread.is_over:
        assert time.monotonic() < end
        time.sleep(0.05)
    assert thread.progress.state is RunState.ENDED


def test_the_log_of_tasks_has_no_secret(
    shift: Shift,
    servers: str,
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("SECRET_FILE", str(tmp_path / "open-sesame"))
    monkeypatch.setenv("SECRET_TOPIC", f"{name}-sesame")
    source = file_source(servers, name, Path("${env:SECRET_FILE}"), name, providers=ENVIRONMENT)
    sink = file_sink(servers, f"{name}-sink", tmp_path / "out", "${env:SECRET_TOPIC}", providers=ENVIRONMENT)
    shift.start(source, "first")
    shift.start(sink, "second")
    waits = "waits, and tries again: [hidden] does not exist yet"
    shift.wait("first", lambda one: waits in caplog.text)
    shift.wait("second", lambda one: "Subscribed topic not available: [hidden]" in caplog.text)
    assert "sesame" not in caplog.text


def test_a_task_that_waits_says_so_once_and_says_when_it_goes_on(
    shift: Shift,
    servers: str,
    name: str,
    producer: Producer,
    tmp_path: Path,
    own_connectors: None,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "moldau")
    obstacle = tmp_path / "obstacle"
    obstacle.touch()
    producer.produce(name, "one")
    producer.flush()
    config = {"topics": name, "file": str(tmp_path / "out"), "obstacle": str(obstacle)}
    shift.start(plan_of(servers, name, "sink", "trial_connectors:PickySink", config), "first")
    shift.wait("first", lambda one: one.retrying == "put: the target is down")
    obstacle.unlink()
    shift.wait("first", lambda one: one.written == 1 and one.retrying is None)
    said = [one.getMessage() for one in caplog.records if one.getMessage().startswith(f"{name}-0")]
    assert said == [f"{name}-0 waits, and tries again: put: the target is down", f"{name}-0 goes on"]
