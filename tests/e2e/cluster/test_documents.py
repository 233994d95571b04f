"""What the documents show with a cluster of three brokers, done to real processes and a real ZooKeeper."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from compat.apache_kafka import java_command
from compat.moldau_broker import MoldauBroker
from compat.server_process import ServerFailed, wait_until
from e2e.cluster.on_demand import on_demand
from e2e.cluster.processes import PATIENCE_S, ClusterProcesses
from kafka_jars import KafkaJarsUnavailable
from moldau.coordination.zookeeper_server import free_ports

ALL = {0, 1, 2}
TOPIC_COMMAND = "org.apache.kafka.tools.TopicCommand"
REASSIGN_COMMAND = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
ELECTION_COMMAND = "org.apache.kafka.tools.LeaderElectionCommand"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClusterProcesses]:
    with ClusterProcesses(tmp_path_factory.mktemp("cluster")) as started:
        yield started


@pytest.fixture(scope="module")
def java() -> list[str]:
    try:
        return java_command("-Xmx256m")
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(autouse=True)
def everybody_is_there(cluster: ClusterProcesses) -> Iterator[None]:
    """Whatever a test does to the brokers, the next one finds all three."""
    yield
    for broker in cluster.brokers.values():
        if broker._child is None:
            broker.start()
    wait_until(
        lambda: (seen := cluster.picture()) is not None and set(seen.brokers) >= ALL,
        "three brokers",
        PATIENCE_S,
    )


def replicas_of(cluster: ClusterProcesses, topic: str) -> list[tuple[int | None, list[int], list[int]]]:
    seen = cluster.picture(topic)
    assert seen is not None
    return [(part.leader, list(part.replicas), sorted(part.isr)) for part in seen.partitions]


def plan(path: Path, **replicas: list[int]) -> Path:
    """One partition of each topic named; underscores are dashes."""
    entries = [
        {"topic": topic.replace("_", "-"), "partition": 0, "replicas": brokers}
        for topic, brokers in replicas.items()
    ]
    path.write_text(json.dumps({"version": 1, "partitions": entries}))
    return path


def test_leaders_and_replicas_of_helloworld_rotate_over_the_brokers(cluster: ClusterProcesses) -> None:
    shell = cluster.shell
    said = cluster.create_topic("helloworld", 3, 3)
    assert said == "Created topic 'helloworld' with 3 partitions, replication factor 3.\n"
    assert "helloworld" in shell.run("topics", "list")
    assert replicas_of(cluster, "helloworld") == [
        (0, [0, 1, 2], [0, 1, 2]),
        (1, [1, 2, 0], [0, 1, 2]),
        (2, [2, 0, 1], [0, 1, 2]),
    ]
    shell.run("produce", "helloworld", stdin="helloworld\n")
    assert shell.run("consume", "helloworld", "--from-beginning") == "helloworld\n"
    store = cluster.store()
    assert "helloworld" in store.children("/brokers/topics")
    assert json.loads(store.get("/controller").data)["brokerid"] in ALL
    store.close()


def test_the_leader_of_two_replicas_is_killed_while_producer_and_consumer_run(
    cluster: ClusterProcesses,
) -> None:
    shell = cluster.shell
    cluster.create_topic("two-replicas", 1, 2)
    found = cluster.partition("two-replicas")
    assert found is not None and found.leader is not None
    leader, replicas = found.leader, list(found.replicas)
    consumer = shell.started("consume", "two-replicas", "--from-beginning", "--follow")
    producer = shell.started(
        "produce", "two-replicas", "-X", "linger.ms=0", "-X", "message.timeout.ms=120000"
    )
    lines: list[str] = []
    assert consumer.stdout is not None and producer.stdin is not None
    reader = threading.Thread(target=_keep, args=[consumer.stdout, lines])
    reader.start()
    try:
        producer.stdin.write("before\n")
        producer.stdin.flush()
        wait_until(lambda: lines == ["before\n"], "the first record is read", PATIENCE_S)
        cluster.brokers[leader].kill9()
        producer.stdin.write("after\n")
        producer.stdin.close()
        assert producer.wait(PATIENCE_S) == 0, producer.stderr.read() if producer.stderr else ""
        (other,) = set(replicas) - {leader}
        cluster.wait_for("two-replicas", leader=other, isr={other})
        wait_until(lambda: lines == ["before\n", "after\n"], "the second record is read", PATIENCE_S)
    finally:
        consumer.kill()
        producer.kill()
        reader.join(PATIENCE_S)
        for process in (consumer, producer):
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None and not stream.closed:
                    stream.close()
            process.wait()


def _keep(stream: IO[str], lines: list[str]) -> None:
    """One by one, since others look at them as they come."""
    for line in stream:
        lines.append(line)


def test_one_replica_becomes_two_by_reassignment(cluster: ClusterProcesses, tmp_path: Path) -> None:
    shell = cluster.shell
    cluster.create_topic("grows", 1, 1)
    shell.run("produce", "grows", stdin="\n".join(map(str, range(1000))))
    (leader, [only], _) = replicas_of(cluster, "grows")[0]
    other = (only + 1) % 3
    file = str(plan(tmp_path / "plan.json", grows=[only, other]))
    said = shell.run("partitions", "reassign", "execute", "--plan", file)
    assert f'"replicas": [{only}]' in said and "Successfully started" in said
    wait_until(
        lambda: shell.finished("partitions", "reassign", "verify", "--plan", file).returncode == 0,
        "the plan is done",
        PATIENCE_S,
    )
    said = shell.run("partitions", "reassign", "verify", "--plan", file)
    assert said.splitlines()[1:] == ["Reassignment of partition grows-0 is completed."]
    assert replicas_of(cluster, "grows") == [(leader, [only, other], sorted([only, other]))]
    # The new replica has it all: it answers for the topic when the first one is gone.
    cluster.brokers[only].kill9()
    cluster.wait_for("grows", leader=other, isr={other})
    assert len(shell.run("consume", "grows").splitlines()) == 1000


@on_demand
def test_a_move_is_slowed_down_until_it_is_done(cluster: ClusterProcesses, tmp_path: Path) -> None:
    shell = cluster.shell
    cluster.create_topic("slow", 1, 1)
    shell.run("produce", "slow", stdin="\n".join("x" * 1000 for _ in range(3000)))
    (_, [only], _) = replicas_of(cluster, "slow")[0]
    other = (only + 1) % 3
    file = str(plan(tmp_path / "plan.json", slow=[only, other]))
    move, verify = (("partitions", "reassign", verb, "--plan", file) for verb in ("execute", "verify"))

    def settings(kind: str, name: str) -> str:
        return shell.run("configs", "describe", kind, name)

    assert "throttle is 1000 bytes per second" in shell.run(*move, "--throttle", "1000")
    assert f"0:{only}" in settings("topic", "slow") and f"0:{other}" in settings("topic", "slow")
    assert "follower.replication.throttled.rate" in settings("broker", str(other))
    # It copies what may be copied in ten seconds, and no more: the rest would take the best part of an hour.
    assert "is still in progress" in shell.finished(*verify).stdout
    cluster.wait_for("slow", leader=only, isr={only})
    shell.run(*move, "--throttle", "50000000")
    cluster.wait_for("slow", leader=only, isr={only, other})
    said: list[str] = []

    def is_done() -> bool:
        done = shell.finished(*verify)
        said.append(done.stdout)
        return done.returncode == 0

    wait_until(is_done, "the plan is done", PATIENCE_S)
    assert f"Removed the throttle from topic 'slow', broker '{min(only, other)}', broker" in said[-1]
    assert "throttled" not in settings("topic", "slow")
    assert "throttled" not in settings("broker", str(other))
    assert replicas_of(cluster, "slow") == [(only, [only, other], sorted([only, other]))]


def test_deleting_the_controllers_node_moves_the_controller(cluster: ClusterProcesses) -> None:
    store = cluster.store()
    before = int(store.get("/controller_epoch").data)
    store.delete("/controller")
    wait_until(
        lambda: int(store.get("/controller_epoch").data) == before + 1 and store.exists("/controller"),
        "there is a controller of the next epoch",
        PATIENCE_S,
    )
    holder = json.loads(store.get("/controller").data)["brokerid"]
    store.close()
    wait_until(
        lambda: (seen := cluster.picture()) is not None and seen.controller == holder,
        "clients are told of it",
        PATIENCE_S,
    )


def test_the_missing_replica_shows_as_under_replicated(cluster: ClusterProcesses) -> None:
    shell = cluster.shell
    cluster.create_topic("replica-test", 1, 3)
    assert shell.run("topics", "describe", "replica-test", "--under-replicated") == ""
    assert cluster.brokers[1].stop() == 0
    cluster.wait_for("replica-test", leader=None, isr={0, 2})
    text = shell.run("topics", "describe", "replica-test", "--under-replicated")
    (heading, row) = text.splitlines()
    assert heading.split() == ["TOPIC", "PARTITION", "LEADER", "REPLICAS", "ISR"]
    found = cluster.partition("replica-test")
    assert found is not None
    listed = [",".join(map(str, each)) for each in (found.replicas, found.isr)]
    assert row.split() == ["replica-test", "0", str(found.leader), *listed]
    assert "Under-replicated" in shell.finished("cluster", "status").stdout
    cluster.brokers[1].start()
    cluster.wait_for("replica-test", leader=None, isr=ALL)


def test_a_new_broker_has_nothing_until_it_is_given_something(
    cluster: ClusterProcesses, tmp_path: Path
) -> None:
    shell = cluster.shell
    cluster.create_topic("old", 2, 2)
    new = cluster.add(3)
    try:
        wait_until(
            lambda: (seen := cluster.picture()) is not None and 3 in seen.brokers, "it is there", PATIENCE_S
        )
        brokers = json.loads(shell.run("cluster", "brokers", "--output", "json"))
        assert [(each["leads"], each["replicas"]) for each in brokers if each["broker"] == 3] == [(0, 0)]
        file = str(tmp_path / "plan.json")
        shell.run("partitions", "reassign", "generate", "old", "--brokers", "2,3", "--plan", file)
        shell.run("partitions", "reassign", "execute", "--plan", file)
        for index in (0, 1):
            cluster.wait_for("old", leader=None, isr={2, 3}, index=index)
        wait_until(
            lambda: shell.finished("partitions", "reassign", "verify", "--plan", file).returncode == 0,
            "the plan is done",
            PATIENCE_S,
        )
        # And back, so that it can go.
        shell.run("partitions", "reassign", "generate", "old", "--brokers", "0,1", "--plan", file)
        shell.run("partitions", "reassign", "execute", "--plan", file)
        for index in (0, 1):
            cluster.wait_for("old", leader=None, isr={0, 1}, index=index)
    finally:
        new.stop()
        del cluster.brokers[3]


@on_demand
def test_kafkas_own_tools_describe_move_and_elect(
    cluster: ClusterProcesses, java: list[str], tmp_path: Path
) -> None:
    cluster.kafka_tool(java, TOPIC_COMMAND, "--create", "--topic", "by-tools", "--replica-assignment", "0:1")
    cluster.wait_for("by-tools", leader=0, isr={0, 1})
    file = plan(tmp_path / "plan.json", by_tools=[2, 1])
    arguments = ("--reassignment-json-file", str(file))
    said = cluster.kafka_tool(java, REASSIGN_COMMAND, *arguments, "--execute")
    assert "Successfully started partition reassignment" in said
    cluster.wait_for("by-tools", leader=2, isr={1, 2})
    said = cluster.kafka_tool(java, REASSIGN_COMMAND, *arguments, "--verify")
    assert "Reassignment of partition by-tools-0 is completed." in said
    cluster.brokers[2].kill9()
    cluster.wait_for("by-tools", leader=1, isr={1})
    said = cluster.kafka_tool(java, TOPIC_COMMAND, "--describe", "--under-replicated-partitions")
    assert "Topic: by-tools" in said
    cluster.brokers[2].start()
    cluster.wait_for("by-tools", leader=1, isr={1, 2})
    said = cluster.kafka_tool(
        java, ELECTION_COMMAND, "--election-type", "preferred", "--topic", "by-tools", "--partition", "0"
    )
    assert "Successfully completed leader election (PREFERRED) for partitions by-tools-0" in said
    cluster.wait_for("by-tools", leader=2, isr={1, 2})


def test_bad_input_is_refused_in_clear_words(cluster: ClusterProcesses, tmp_path: Path) -> None:
    shell = cluster.shell
    said = shell.run("topics", "create", "too-many", "--replication-factor", "4", code=1)
    assert "only 3 broker(s) are registered" in said
    cluster.create_topic("stays", 1, 1)
    for replicas, words in (([0, 9], "no such broker is registered"), ([0, 0], "list each broker once")):
        file = plan(tmp_path / "plan.json", stays=replicas)
        assert words in shell.run("partitions", "reassign", "execute", "--plan", str(file), code=1)
    with pytest.raises(ServerFailed, match="ID 1 is already registered"):
        _another(
            cluster,
            tmp_path,
            "twin",
            {"broker.id": "1", "node.id": "1", "zookeeper.session.timeout.ms": "2000"},
        )
    with pytest.raises(ServerFailed, match="cluster"):
        _with_other_data(cluster, tmp_path)


def _another(cluster: ClusterProcesses, tmp_path: Path, name: str, settings: dict[str, str]) -> None:
    MoldauBroker(
        tmp_path / name, {"zookeeper.connect": cluster.zookeeper_connect, **settings}
    ).start().kill9()


def _with_other_data(cluster: ClusterProcesses, tmp_path: Path) -> None:
    """A broker that stood alone has data of a cluster of its own."""
    numbered = {"broker.id": "7", "node.id": "7"}
    MoldauBroker(tmp_path / "alone", numbered).start().stop()
    _another(cluster, tmp_path, "alone", numbered)


def test_a_broker_without_a_number_is_given_one_and_keeps_it(
    cluster: ClusterProcesses, tmp_path: Path
) -> None:
    settings = {"zookeeper.connect": cluster.zookeeper_connect, "broker.id": "-1", "num.partitions": "5"}
    broker = MoldauBroker(tmp_path / "unnumbered", settings)
    for _ in range(2):
        broker.start()
        broker.stop()
        assert "broker 1001: settings other than the default:" in broker.log_text()
        assert "\tnum.partitions = 5\n" in broker.log_text()
        assert "node.id=1001\n" in (broker.log_dir / "meta.properties").read_text()


def test_a_broker_without_its_zookeeper_says_so(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    settings = {"zookeeper.connect": f"127.0.0.1:{port}", "zookeeper.connection.timeout.ms": "1000"}
    with pytest.raises(ServerFailed, match="no ZooKeeper answered"):
        MoldauBroker(tmp_path, settings).start()
