"""The security chapter of the book, done as it is written: X1 to X5, X10, X11, X20 to X22, X30, X40 to X43."""

import json
import ssl
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from confluent_kafka import OFFSET_END, Consumer, TopicPartition
from confluent_kafka.admin import AdminClient
from kazoo.client import KazooClient
from kazoo.exceptions import NoAuthError

from compat.client import ClientFailure, Record
from compat.confluent_client import ConfluentClient
from compat.server_process import wait_until
from e2e.cli.shell import Shell
from e2e.cluster.book_cluster import USERS, BookCluster, book_cluster
from e2e.cluster.on_demand import on_demand
from moldau.cli.kafka_syntax import translated

TOPIC = "clueful_secrets"
TIMEOUT_S = 60
POLLING_S = 3
pytestmark = [pytest.mark.java, on_demand]


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BookCluster]:
    with book_cluster(tmp_path_factory.mktemp("book")) as cluster:
        franz(cluster, "topics", "create", TOPIC, "--replication-factor", "2")
        yield cluster


def franz(book: BookCluster, *arguments: str, stdin: str = "") -> str:
    """The command line of the only super user, with one client file for every command (X3, X4)."""
    file = book.stores.folder / "franz.properties"
    file.write_text("".join(f"{name}={value}\n" for name, value in book.login("Franz").items()))
    return Shell(book.address("SASL_SSL")).run(*arguments, "--command-config", str(file), stdin=stdin)


@pytest.fixture
def anyone(book: BookCluster) -> Iterator[KazooClient]:
    """Somebody with ZooKeeper's address and nothing else."""
    client = KazooClient(book.zookeeper.address)
    client.start(timeout=TIMEOUT_S)
    yield client
    client.stop()
    client.close()


async def test_x3_x11_three_listeners_side_by_side(
    book: BookCluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tls = {"security.protocol": "SSL", "ssl.ca.location": str(book.stores.ca)}
    for listener, settings in (("PLAINTEXT", {}), ("SSL", tls)):
        client = AdminClient({"bootstrap.servers": book.address(listener), **settings})
        assert set(client.list_topics(timeout=TIMEOUT_S).brokers) == {0, 1}
    allowed = ("--producer", "--consumer", "--group", "g")
    franz(book, "acls", "add", "kafkaclient", "--topic", "kerberos", *allowed)
    franz(book, "topics", "create", "kerberos")
    monkeypatch.setenv("KRB5_CLIENT_KTNAME", str(book.client_keys))
    monkeypatch.setenv("KRB5CCNAME", f"FILE:{tmp_path / 'tickets'}")
    kerberos = {
        "bootstrap_servers": book.address("SASL_SSL"),
        "security_protocol": "SASL_SSL",
        "ssl_context": ssl.create_default_context(cafile=str(book.stores.ca)),
        "sasl_mechanism": "GSSAPI",
        "sasl_kerberos_service_name": "kafka",
        "sasl_kerberos_domain_name": "localhost",
    }
    async with AIOKafkaProducer(**kerberos) as producer:
        await producer.send_and_wait("kerberos", b"by keytab")
    async with AIOKafkaConsumer("kerberos", auto_offset_reset="earliest", **kerberos) as consumer:
        assert (await consumer.getone()).value == b"by keytab"


def test_x4_one_file_serves_both_console_tools(book: BookCluster) -> None:
    franz(book, "produce", TOPIC, stdin="who stole it\n")
    assert franz(book, "consume", TOPIC, "--limit", "1") == "who stole it\n"


def test_x5_brokers_replicate_over_tls(book: BookCluster) -> None:
    client = AdminClient({"bootstrap.servers": book.address("SASL_SSL"), **book.login("Franz")})
    franz(book, "produce", TOPIC, "--acks", "all", stdin="copied\n")

    def in_sync() -> int:
        return len(client.list_topics(TOPIC, timeout=TIMEOUT_S).topics[TOPIC].partitions[0].isrs)

    wait_until(lambda: in_sync() == 2, "both brokers are in sync", TIMEOUT_S)


def rights(book: BookCluster, user: str) -> tuple[str, bool]:
    """What writing to the secret topic comes to, and whether it is listed."""
    client, login = ConfluentClient(book.address("SASL_SSL")), book.login(user)
    try:
        client.produce(TOPIC, [Record(value=b"a clue")], login)
        writing = "done"
    except ClientFailure as failure:
        writing = failure.code
    admin = AdminClient({"bootstrap.servers": client.bootstrap, **login})
    return writing, TOPIC in admin.list_topics(timeout=TIMEOUT_S).topics


def read_one(book: BookCluster, user: str) -> str:
    try:
        ConfluentClient(book.address("SASL_SSL")).consume(TOPIC, count=1, settings=book.login(user))
    except ClientFailure as failure:
        return failure.code
    return "done"


def test_x20_x21_x22_the_masquerade(book: BookCluster) -> None:
    everything, nothing = ("done", True), ("TOPIC_AUTHORIZATION_FAILED", False)
    assert [rights(book, user) for user in USERS] == [everything, nothing, nothing]
    words = (
        "--authorizer-properties zookeeper.connect=localhost:2181 --add --allow-principal User:Franz "
        f"--allow-principal User:Hemingway --operation Read --operation Write --topic {TOPIC}"
    )
    ours = translated(["kafka-acls", *words.split()])
    assert ours is not None
    franz(book, *ours.split()[1:])
    assert [rights(book, user) for user in USERS] == [everything, everything, nothing]
    # The book says nothing of the right to read as a group.
    assert read_one(book, "Hemingway") == "GROUP_AUTHORIZATION_FAILED"
    franz(book, "acls", "add", "Hemingway", "--group", "unused", "--operation", "read")
    assert read_one(book, "Hemingway") == "done"
    franz(book, "acls", "remove", "Hemingway", "--topic", TOPIC, "--yes")
    wait_until(lambda: rights(book, "Hemingway") == nothing, "Hemingway has no rights left", TIMEOUT_S)


def test_x30_x40_what_zookeeper_has_is_the_brokers_own(book: BookCluster, anyone: KazooClient) -> None:
    franz(book, "acls", "add", "Franz", "--topic", "of-franz", "--operation", "read")
    limits = ("producer_byte_rate=1048576", "consumer_byte_rate=10485760")
    franz(book, "quotas", "set", "--client", "clueful", *limits)
    assert json.loads(anyone.get("/book/config/clients/clueful")[0])["config"] == {
        "producer_byte_rate": "1048576",
        "consumer_byte_rate": "10485760",
    }
    franz(book, "quotas", "set", "--user", "Franz", "producer_byte_rate=10MiB")
    (rule,) = json.loads(anyone.get("/book/kafka-acl/Topic/of-franz")[0])["acls"]
    assert rule == {"principal": "User:Franz", "permissionType": "Allow", "operation": "Read", "host": "*"}
    for path in ("/book/kafka-acl/Topic/of-franz", f"/book/brokers/topics/{TOPIC}", "/book/controller"):
        owners, _ = anyone.get_acls(path)
        assert sorted((each.id.scheme, each.id.id, each.acl_list) for each in owners) == [
            ("sasl", "broker", ["ALL"]),
            ("world", "anyone", ["READ"]),
        ]
    forbidden: list[Callable[[], object]] = [
        lambda: anyone.set("/book/kafka-acl/Topic/of-franz", b"forged"),
        lambda: anyone.create("/book/brokers/topics/forged"),
        lambda: anyone.delete("/book/controller"),
        lambda: anyone.get("/book/config/brokers/<default>"),
        lambda: anyone.get("/book/config/users/Franz"),
    ]
    for act in forbidden:
        with pytest.raises(NoAuthError):
            act()


def throttled_ms(book: BookCluster, client_id: str, polling_s: float = POLLING_S) -> int:
    """The first wait that a poller without `fetch.wait.max.ms` is told within this time; 0 for none."""
    waits: list[float] = [0.0]
    consumer = Consumer(
        {
            "bootstrap.servers": book.address("SASL_SSL"),
            **book.login("Franz"),
            "client.id": client_id,
            "group.id": "poller",
            "fetch.wait.max.ms": 0,
            "throttle_cb": lambda event: waits.append(event.throttle_time),
        }
    )
    consumer.assign([TopicPartition(TOPIC, 0, OFFSET_END)])
    deadline = time.monotonic() + polling_s
    while time.monotonic() < deadline and max(waits) == 0:
        consumer.poll(0.1)
    consumer.close()
    return int(max(waits) * 1000)


def test_x42_x43_who_asks_all_the_time_waits_unless_the_user_has_more(book: BookCluster) -> None:
    assert throttled_ms(book, "calm") == 0
    franz(book, "quotas", "set", "--client", "poller", "request_percentage=0.01")
    assert throttled_ms(book, "poller", TIMEOUT_S) > 0
    # The quota of the user is in force instead of the client's, though it is the larger one.
    franz(book, "quotas", "set", "--user", "Franz", "request_percentage=100")
    assert throttled_ms(book, "poller") == 0
