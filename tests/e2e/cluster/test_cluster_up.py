"""A cluster by one command, and what it says about itself."""

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import Consumer, Producer

from compat.server_process import free_port, wait_until
from e2e.cli.shell import Shell, read_line
from e2e.cluster.processes import PATIENCE_S
from e2e.registry.registry_process import ask
from zookeeper_kit import require_zookeeper


@contextmanager
def started(*arguments: str) -> Iterator["subprocess.Popen[str]"]:
    """Ended by Ctrl-C, which must end it well."""
    require_zookeeper()
    running = Shell("").started(*arguments)
    try:
        yield running
        running.send_signal(signal.SIGINT)
        assert running.wait(PATIENCE_S) == 0
    finally:
        running.terminate()
        running.communicate(timeout=PATIENCE_S)


def test_one_command_starts_and_stops_a_cluster(tmp_path: Path) -> None:
    arguments = ("--brokers", "3", "--port", "0", "--zookeeper-port", "0", "--data", str(tmp_path))
    with started("cluster", "up", *arguments) as running:
        lines = [read_line(running) for _ in range(6)]
        said = [line.split()[0] for line in lines]
        assert said == ["zookeeper", "broker", "broker", "broker", "logs", "ready"]
        servers = [endpoint.removeprefix("PLAINTEXT://") for endpoint in lines[-1].split()[1:]]
        shell = Shell(",".join(servers))
        assert shell.run("topics", "create", "t", "--partitions", "3").endswith("replication factor 3.\n")
        wait_until(lambda: _is_well(shell, topics=1), "all is well", PATIENCE_S)
        status = json.loads(shell.run("cluster", "status", "--output", "json"))
        assert status["brokers"] == [0, 1, 2]
        assert status["controller"] in (0, 1, 2)
        assert status["partitions"] == 3
        brokers = json.loads(shell.run("cluster", "brokers", "--output", "json"))
        assert [(each["broker"], each["leads"], each["replicas"]) for each in brokers] == [
            (0, 1, 3),
            (1, 1, 3),
            (2, 1, 3),
        ]
        assert "controller" in shell.run("cluster", "brokers")


def _is_well(shell: Shell, topics: int) -> bool:
    done = shell.finished("cluster", "status", "--output", "json")
    return done.returncode == 0 and json.loads(done.stdout)["topics"] == topics


def test_one_broker_is_stopped_killed_and_started_again(tmp_path: Path) -> None:
    arguments = ("--brokers", "3", "--port", "0", "--zookeeper-port", "0", "--data", str(tmp_path))
    with started("cluster", "up", *arguments) as running:
        lines = [read_line(running) for _ in range(6)]
        servers = [endpoint.removeprefix("PLAINTEXT://") for endpoint in lines[-1].split()[1:]]
        shell = Shell(servers[0])
        data = ("--data", str(tmp_path))

        def brokers() -> list[int]:
            return json.loads(shell.run("cluster", "status", "-o", "json"))["brokers"]  # type: ignore[no-any-return]

        for ended, words in ((["stop-broker", "1"], "stopped"), (["stop-broker", "1", "--kill"], "killed")):
            said = shell.run("cluster", *ended, *data)
            assert said == f"Broker 1 was {words}; the other brokers keep running.\n"
            assert shell.run("cluster", *ended, *data) == "Broker 1 is not running.\n"
            wait_until(lambda: brokers() == [0, 2], "broker 1 is gone", PATIENCE_S)
            said = shell.run("cluster", "start-broker", "1", *data)
            assert said == f"Broker 1 is running again, at PLAINTEXT://{servers[1]}.\n"
            wait_until(lambda: brokers() == [0, 1, 2], "broker 1 is back", PATIENCE_S)
        assert "is already running" in shell.run("cluster", "start-broker", "1", *data)
        assert "has the brokers 0, 1, 2" in shell.run("cluster", "start-broker", "7", *data, code=1)


def test_nobody_is_there_to_start_a_broker(tmp_path: Path) -> None:
    shell = Shell("")
    said = shell.run("cluster", "start-broker", "0", "--data", str(tmp_path), code=1)
    assert "has no cluster data" in said
    (tmp_path / "broker-0").mkdir()
    said = shell.run("cluster", "start-broker", "0", "--data", str(tmp_path), code=1)
    assert f"no `moldau cluster up` is running on {tmp_path}" in said
    assert not (tmp_path / "broker-0.request").exists()


def test_up_starts_the_platform_on_three_brokers(tmp_path: Path) -> None:
    registry = f"http://127.0.0.1:{free_port()}"
    arguments = ("--brokers", "3", "--port", "0", "--zookeeper-port", "0", "--data", str(tmp_path))
    with started(
        "up",
        *arguments,
        "--sql-port",
        "0",
        "--connect-port",
        "0",
        "--rest-port",
        "0",
        "--mqtt-port",
        "0",
        "--registry-override",
        f"listeners={registry}",
    ) as running:
        lines = [read_line(running).split() for _ in range(8)]
        names = ["zookeeper", "broker", "broker", "broker", "logs", "registry", "connect", "sql"]
        assert [line[0] for line in lines] == names
        assert ask(registry, "POST", "/subjects/s/versions", {"schema": '"int"'}).status == 200
        servers = ",".join(line[-1].removeprefix("PLAINTEXT://") for line in lines[1:4])
        producer = Producer({"bootstrap.servers": servers})
        producer.produce("orders", b"2 apples")
        assert producer.flush(PATIENCE_S) == 0
        group = {"group.id": "g", "auto.offset.reset": "earliest"}
        consumer = Consumer({"bootstrap.servers": servers, **group})
        consumer.subscribe(["orders"])
        seen: list[bytes | None] = []

        def is_read() -> bool:
            # A broker that has not heard of the topic yet says so, and that is told as an error.
            seen.extend(message.value() for message in consumer.consume(1, 1) if message.error() is None)
            return bool(seen)

        wait_until(is_read, "the record is read", PATIENCE_S)
        assert seen == [b"2 apples"]
        consumer.close()
        shell = Shell(servers)
        wait_until(lambda: shell.finished("cluster", "status").returncode == 0, "all is well", PATIENCE_S)


def test_a_cluster_and_a_broker_alone_do_not_share_a_directory(tmp_path: Path) -> None:
    shell = Shell("")
    (tmp_path / "cluster" / "zookeeper").mkdir(parents=True)
    said = shell.run("up", "--data", str(tmp_path / "cluster"), code=1)
    assert "has the data of a cluster" in said
    (tmp_path / "alone").mkdir()
    (tmp_path / "alone" / "meta.properties").touch()
    for command in (("cluster", "up"), ("up", "--brokers", "3")):
        said = shell.run(*command, "--data", str(tmp_path / "alone"), code=1)
        assert "has the data of a single broker" in said
