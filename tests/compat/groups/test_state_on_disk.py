"""Groups and transactions as they lie on disk: Kafka's own reader decodes Moldau's, and each goes on with the
other's."""

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from compat.apache_kafka import ApacheKafka
from compat.client import Record, wait_for_topic
from compat.confluent_client import ConfluentClient
from compat.groups.java_admin import DUMP_LOG, JavaAdmin
from compat.groups.java_member import JavaLibrary
from compat.groups.java_pipe import JavaPipe
from compat.groups.member import Committed, Place, wait_for_assignments
from compat.groups.transactional import JavaTransactional
from compat.groups.waiting import wait_until
from compat.moldau_broker import MoldauBroker
from compat.server_process import ServerProcess
from kafka_jars import KafkaJarsUnavailable

pytestmark = pytest.mark.java

TOPIC = "read"
GROUP, DELETED_GROUP = "readers", "deleted"
COMMITTED_ID, OPEN_ID = "commits", "stays-open"
OFFSETS: dict[Place, Committed] = {(TOPIC, 0): (3, "metadata"), (TOPIC, 1): (2, "")}
SETTINGS = {
    "group.initial.rebalance.delay.ms": "100",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
}
COMPLAINTS = re.compile(r"isvalid: false|exception|error|could not|invalid", re.IGNORECASE)
ONGOING, COMPLETE_COMMIT = 1, 4
"""As numbers in the transaction log."""


def write_state(server: ServerProcess, pipe: JavaPipe) -> dict[str, Any]:
    """A group that was live and is empty, one that was deleted, a transaction that is committed, one that is open."""
    client, admin = ConfluentClient(server.bootstrap), JavaAdmin(pipe, server.bootstrap)
    client.create_topic(TOPIC, 2)
    wait_for_topic(client, TOPIC, 2)
    client.produce(TOPIC, [Record(b"plain", partition=number % 2) for number in range(10)])
    member = JavaLibrary(pipe, server.bootstrap).open("c1", GROUP, [TOPIC], {})
    wait_for_assignments({member: OFFSETS.keys()})
    member.commit(OFFSETS)
    member.leave()
    admin.alter_group_offsets(DELETED_GROUP, {(TOPIC, 0): (1, "")})
    admin.delete_group(DELETED_GROUP)
    for transactional_id in (COMMITTED_ID, OPEN_ID):
        producer = JavaTransactional(pipe, server.bootstrap, transactional_id, {})
        producer.begin()
        producer.send(TOPIC, [transactional_id.encode()])
        if transactional_id == COMMITTED_ID:
            producer.commit()
        producer.close()
    wait_until(
        lambda: admin.describe_transaction(COMMITTED_ID)["state"] == "CompleteCommit", "it is complete"
    )
    return {name: admin.describe_transaction(name) for name in (COMMITTED_ID, OPEN_ID)}


@dataclass(frozen=True)
class Written:
    server: ServerProcess
    log_dir: Path
    """As it was after a clean stop; the server may have gone on in its own since."""
    transactions: dict[str, Any]


def after_stop(server: ServerProcess, transactions: dict[str, Any]) -> Written:
    copy = server.folder / "stopped"
    shutil.copytree(server.log_dir, copy)
    return Written(server, copy, transactions)


@pytest.fixture(scope="module")
def by_moldau(tmp_path_factory: pytest.TempPathFactory, java_pipe: JavaPipe) -> Written:
    with MoldauBroker(tmp_path_factory.mktemp("by-moldau"), SETTINGS) as server:
        transactions = write_state(server, java_pipe)
        assert server.stop() == 0
    return after_stop(server, transactions)


@pytest.fixture(scope="module")
def by_kafka(tmp_path_factory: pytest.TempPathFactory, java_pipe: JavaPipe) -> Written:
    try:
        server = ApacheKafka(tmp_path_factory.mktemp("by-kafka"), SETTINGS)
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))
    with server:
        transactions = write_state(server, java_pipe)
    return after_stop(server, transactions)


def dumped(written: Written, pipe: JavaPipe, topic: str, decoder: str) -> list[tuple[Any, Any]]:
    """Key and value of each record; None is a tombstone."""
    files = sorted((written.log_dir / f"{topic}-0").glob("*.log"))
    assert files
    names = ",".join(map(str, files))
    printed = JavaAdmin(pipe, "").run(DUMP_LOG, "--files", names, decoder)
    assert COMPLAINTS.search(printed) is None, printed
    found = re.findall(r"^\| offset: .*? key: (\{.*\}) payload: (.*)$", printed, re.MULTILINE)
    assert len(found) == printed.count("\n| offset: ")
    return [(json.loads(key), None if value == "<DELETE>" else json.loads(value)) for key, value in found]


@pytest.fixture(scope="module", params=["moldau", "kafka"])
def written(request: pytest.FixtureRequest) -> Written:
    """Kafka's too, which proves what is asked of Moldau's."""
    if request.param == "kafka" and not request.config.getoption("--against-kafka"):
        pytest.skip("without --against-kafka only Moldau's files are looked at")
    found: Written = request.getfixturevalue(f"by_{request.param}")
    return found


def test_kafka_decodes_the_offsets(written: Written, java_pipe: JavaPipe) -> None:
    records = dumped(written, java_pipe, "__consumer_offsets", "--offsets-decoder")
    last = {json.dumps(key, sort_keys=True): value for key, value in records}
    offsets = {
        (key["data"]["topic"], key["data"]["partition"]): (value["data"]["offset"], value["data"]["metadata"])
        for key, value in records
        if key["type"] == "1" and key["data"]["group"] == GROUP
    }
    assert offsets == OFFSETS
    groups = [value["data"] for key, value in records if key == group_key(GROUP)]
    live = next(group for group in groups if group["members"])
    (member,) = live["members"]
    assert (live["protocolType"], live["protocol"], live["leader"]) == (
        "consumer",
        "range",
        member["memberId"],
    )
    assert member["assignment"]["assignedPartitions"] == [{"topic": TOPIC, "partitions": [0, 1]}]
    assert groups[-1]["members"] == []
    assert last[json.dumps(group_key(DELETED_GROUP), sort_keys=True)] is None


def group_key(group: str) -> dict[str, Any]:
    return {"type": "2", "data": {"group": group}}


def test_kafka_decodes_the_transactions(written: Written, java_pipe: JavaPipe) -> None:
    records = dumped(written, java_pipe, "__transaction_state", "--transaction-log-decoder")
    last = {key["data"]["transactionalId"]: value["data"] for key, value in records}
    assert last.keys() == {COMMITTED_ID, OPEN_ID}
    assert last[COMMITTED_ID]["transactionStatus"] == COMPLETE_COMMIT
    assert last[OPEN_ID]["transactionStatus"] == ONGOING
    assert last[OPEN_ID]["transactionPartitions"] == [{"topic": TOPIC, "partitionIds": [0]}]
    for name, seen in written.transactions.items():
        assert last[name]["producerId"] == seen["producer_id"]
        assert last[name]["producerEpoch"] == seen["producer_epoch"]


@dataclass(frozen=True)
class Adopted:
    server: ServerProcess
    transactions: dict[str, Any]


def kafka_s_in_moldau(written: Written, folder: Path) -> MoldauBroker:
    server = MoldauBroker(folder, {**SETTINGS, "node.id": "1"})
    shutil.copytree(written.log_dir, server.log_dir)
    return server


def moldau_s_in_kafka(written: Written, kafka: ServerProcess) -> ServerProcess:
    """Kafka knows topics from its metadata log alone: its files give way to those of topics it has already."""
    for theirs in (*kafka.log_dir.glob(f"{TOPIC}-*"), *kafka.log_dir.glob("__*_*-0")):
        if not theirs.name.startswith("__cluster"):
            identity = (theirs / "partition.metadata").read_bytes()
            shutil.rmtree(theirs)
            shutil.copytree(written.log_dir / theirs.name, theirs)
            (theirs / "partition.metadata").write_bytes(identity)
    return kafka


@pytest.fixture(scope="module", params=["kafka's in moldau", "moldau's in kafka"])
def adopted(
    request: pytest.FixtureRequest,
    by_kafka: Written,
    by_moldau: Written,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Adopted]:
    """The directory of the one in the other's hands."""
    if request.param == "kafka's in moldau":
        written, server = by_kafka, kafka_s_in_moldau(by_kafka, tmp_path_factory.mktemp("adopted"))
    else:
        written, server = by_moldau, moldau_s_in_kafka(by_moldau, by_kafka.server)
    with server:
        yield Adopted(server, written.transactions)


def test_the_offsets_are_known(adopted: Adopted, java_pipe: JavaPipe) -> None:
    admin = JavaAdmin(java_pipe, adopted.server.bootstrap)
    assert admin.group_offsets(GROUP) == OFFSETS
    assert admin.list_groups() == {GROUP: "Empty"}


def test_a_member_goes_on_where_the_other_was(adopted: Adopted, java_pipe: JavaPipe) -> None:
    member = JavaLibrary(java_pipe, adopted.server.bootstrap).open("c1", GROUP, [TOPIC], {})
    wait_until(lambda: len(member.got) >= 5, "the rest is read")
    first = {
        number: min(got.offset for got in member.got if got.place == (TOPIC, number)) for number in (0, 1)
    }
    member.leave()
    assert first == {number: OFFSETS[TOPIC, number][0] for number in (0, 1)}


def test_the_transactions_are_known_and_go_on(adopted: Adopted, java_pipe: JavaPipe) -> None:
    """The open one is aborted when its producer comes back, with a higher epoch than it had."""
    server, transactions = adopted.server, adopted.transactions
    admin, client = JavaAdmin(java_pipe, server.bootstrap), ConfluentClient(server.bootstrap)
    assert {name: admin.describe_transaction(name) for name in transactions} == transactions
    committed = {"isolation.level": "read_committed"}
    end = admin.end_offset(TOPIC, committed=False)
    assert admin.end_offset(TOPIC, committed=True) < end
    producer = JavaTransactional(java_pipe, server.bootstrap, OPEN_ID, {})
    producer.begin()
    producer.send(TOPIC, [b"from here on"])
    producer.commit()
    producer.close()
    now = admin.describe_transaction(OPEN_ID)
    before = transactions[OPEN_ID]
    assert now["producer_id"] == before["producer_id"]
    assert now["producer_epoch"] > before["producer_epoch"]
    wait_until(
        lambda: admin.end_offset(TOPIC, committed=True) == admin.end_offset(TOPIC, committed=False),
        "nothing is open",
    )
    values = [record.value for record in client.consume(TOPIC, settings=committed)]
    assert values == [b"plain"] * 5 + [COMMITTED_ID.encode(), b"from here on"]
