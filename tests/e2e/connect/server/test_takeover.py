"""Several workers of one group share the connectors. When one dies, the others have its connectors and tasks."""

import itertools
import os
from contextlib import ExitStack
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError

from compat.server_process import wait_until
from e2e.connect.server.conftest import IDLE_SOURCE, LocalWorker
from e2e.connect.server.connect_process import PATIENCE_S, STRINGS, ConnectClient, ConnectProcess, Refused
from moldau.testing import LocalCluster

TESTS = Path(__file__).parents[3]
NAMES = [f"idle-{number}" for number in range(48)]


def owners(client: ConnectClient) -> dict[str, str]:
    """The worker of each connector that runs."""
    found = client.ask("GET", "/connectors?expand=status")
    states = {name: one["status"]["connector"] for name, one in found.items()}
    return {name: one["worker_id"] for name, one in states.items() if one["state"] == "RUNNING"}


def test_connectors_of_a_worker_that_dies_move(cluster: LocalCluster, tmp_path: Path) -> None:
    """Connectors of a folder in `plugin.path`, without tasks: no Spark."""
    settings = {"group.id": "moving", "plugin.path": str(TESTS)}
    workers = [
        ConnectProcess(tmp_path / str(number), cluster.bootstrap_servers, settings) for number in range(4)
    ]
    ids = {worker.worker_id for worker in workers}
    with ExitStack() as stack:
        for worker in workers:
            stack.enter_context(worker)
        first, second, third, _ = workers
        for name, worker in zip(NAMES, itertools.cycle(workers), strict=False):
            worker.client.create(name, {"connector.class": IDLE_SOURCE, "colour": "red"})

        def spread_over(wanted: set[str]) -> bool:
            found = owners(second.client)
            return found.keys() == set(NAMES) and set(found.values()) == wanted

        wait_until(lambda: spread_over(ids), "all four workers have connectors", PATIENCE_S)
        first.kill9()
        wait_until(lambda: spread_over(ids - {first.worker_id}), "the others have all connectors", PATIENCE_S)
        # What the dead worker had accepted is not lost, and the group takes changes.
        third.client.of(NAMES[0], "/config", "PATCH", {"colour": "blue"})
        first.start()
        wait_until(lambda: spread_over(ids), "the worker has connectors again", PATIENCE_S)
        assert first.client.of(NAMES[0], "/config")["colour"] == "blue"
        assert second.stop() == 0
        wait_until(
            lambda: set(owners(first.client).values()) == ids - {second.worker_id}, "it left", PATIENCE_S
        )


def test_workers_agree(cluster: LocalCluster, tmp_path: Path) -> None:
    """Each takes requests, and decides on everything that the other has accepted."""
    with (
        LocalWorker(cluster, tmp_path / "one", group_id="agreeing") as first,
        LocalWorker(cluster, tmp_path / "two", group_id="agreeing") as second,
    ):
        one, two = first.client, second.client
        config = {"connector.class": IDLE_SOURCE, "colour": "red"}
        one.create("contested", config)
        with pytest.raises(Refused, match="already exists"):
            two.create("contested", config)
        for number in range(3):
            one.create(f"one-{number}", config)
            two.create(f"two-{number}", config)
        names = {"contested", *(f"{side}-{number}" for side in ("one", "two") for number in range(3))}
        wait_until(lambda: set(one.ask("GET", "/connectors")) == names, "one has all", PATIENCE_S)
        wait_until(lambda: set(two.ask("GET", "/connectors")) == names, "two has all", PATIENCE_S)
        two.of("one-0", method="DELETE")
        with pytest.raises(Refused, match="not found"):
            one.of("one-0", method="DELETE")


@pytest.mark.skipif(
    "MOLDAU_KILL_ROUNDS" not in os.environ, reason="starts Spark on two workers, again and again"
)
def test_tasks_move_and_lose_nothing(cluster: LocalCluster, tmp_path: Path) -> None:
    rounds = int(os.environ["MOLDAU_KILL_ROUNDS"])
    settings = {"group.id": "killed", "offset.storage.partitions": "4"}
    workers = [
        ConnectProcess(tmp_path / str(number), cluster.bootstrap_servers, settings) for number in range(2)
    ]
    given = {name: tmp_path / f"{name}.txt" for name in ("a", "b", "c", "d")}
    written: dict[str, list[str]] = {name: [] for name in given}
    with ExitStack() as stack:
        for worker in workers:
            stack.enter_context(worker)
        for name, file in given.items():
            file.touch()
            config = {"connector.class": "FileStreamSource", "file": str(file), "topic": f"killed-{name}"}
            workers[0].client.create(name, {**config, **STRINGS})
        for turn in range(rounds):
            victim, other = workers[turn % 2], workers[1 - turn % 2]
            for name, file in given.items():
                lines = [f"{name}-{turn}-{number}" for number in range(2_000)]
                written[name] += lines
                with file.open("a") as opened:
                    opened.writelines(f"{line}\n" for line in lines)
            victim.kill9()
            for name in given:
                wait_run_by(other, name)
            victim.start()
        for name, lines in written.items():
            assert committed(cluster.bootstrap_servers, f"killed-{name}", len(lines)) == lines


def wait_run_by(worker: ConnectProcess, name: str) -> None:
    wait_until(lambda: is_run_by(worker, name), f"{name} runs on {worker.worker_id}", PATIENCE_S)


def is_run_by(worker: ConnectProcess, name: str) -> bool:
    try:
        status = worker.client.of(name, "/status")
    except Refused:
        return False
    states = [status["connector"], *status["tasks"]]
    return len(states) == 2 and all(
        (one["state"], one["worker_id"]) == ("RUNNING", worker.worker_id) for one in states
    )


def committed(servers: str, topic: str, at_least: int) -> list[str]:
    """Values of a topic of one partition, as a reader of committed records has them, to its end."""
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "reader",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "topic.metadata.refresh.interval.ms": 500,
            "auto.offset.reset": "earliest",
            "enable.partition.eof": True,
        }
    )
    consumer.subscribe([topic])
    found: list[str] = []

    def has_read() -> bool:
        is_at_end = False
        for message in consumer.consume(1_000, 1):
            error = message.error()
            if error is None:
                found.append((message.value() or b"").decode())
            else:
                # The topic may not exist yet.
                assert error.code() in (KafkaError._PARTITION_EOF, KafkaError.UNKNOWN_TOPIC_OR_PART)
                is_at_end = error.code() == KafkaError._PARTITION_EOF
        return is_at_end and len(found) >= at_least

    try:
        wait_until(has_read, f"{at_least} records of {topic}", PATIENCE_S)
    finally:
        consumer.close()
    return found
