"""Clients that take without giving back: never reading, never leaving, coming by the thousand, vanishing."""

import contextlib
import resource
import time
from collections.abc import Iterator

import pytest

from compat.server_process import stopwatch, wait_until
from e2e.conftest import StartBroker
from e2e.conversation import (
    FETCH_BY_NAME,
    PRODUCE_BY_NAME,
    TOPIC_RESOURCE,
    batch_of,
    create_topic,
    fetch_request,
    metadata,
    produce_request,
    produce_values,
)
from e2e.hostility import Attacked
from e2e.process_facts import MB, open_files, resident_bytes
from e2e.wire import HungUp, WireClient, framed, request_bytes
from moldau.protocol.messages.configs.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from moldau.protocol.messages.log.fetch import FetchPartition, FetchRequest, FetchTopic
from moldau.protocol.messages.topics.metadata import MetadataRequest, MetadataRequestTopic
from moldau.protocol.spec import Request

pytestmark = pytest.mark.slow

BROKER_SETTINGS: dict[str, str] = {}
MEMORY_BYTES_MAX = 48 * MB
LARGE = "large"
WIDE = "wide"
FLUSHED = "flushed"
LARGE_BATCHES = 40
CROWD = 1000
BACKLOG_SAFE = 40


@pytest.fixture(scope="module", autouse=True)
def topics(attacked: Attacked) -> None:
    with attacked.connect() as client:
        create_topic(client, LARGE)
        create_topic(client, WIDE, partitions=1000)
        create_topic(client, FLUSHED, configs={"flush.messages": "1"})
        produce_values(client, FLUSHED, [b"opened"])
        for _ in range(LARGE_BATCHES):
            produce_values(client, LARGE, [bytes(MB - 1000)])


@contextlib.contextmanager
def crowd(port: int, count: int) -> Iterator[list[WireClient]]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 2 * count)), hard))
    clients: list[WireClient] = []
    try:
        for number in range(count):
            clients.append(WireClient(port))
            if number % BACKLOG_SAFE == 0:
                metadata(
                    clients[-1], []
                )  # So the broker keeps up: beyond its backlog the kernel makes us wait.
        yield clients
    finally:
        for client in clients:
            client.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def settled_files(attacked: Attacked, limit: int) -> None:
    wait_until(lambda: open_files(attacked.pid) <= limit, f"no more than {limit} descriptors are open")


@pytest.mark.usefixtures("undisturbed")
def test_fetching_without_reading(attacked: Attacked) -> None:
    """Fifty clients ask for 40 MB a hundred times each and read nothing of it."""
    files = open_files(attacked.pid)
    request = framed(request_bytes(fetch_request(LARGE, {0: 0}), FETCH_BY_NAME))
    clients = [WireClient(attacked.port, receive_buffer_bytes=4096) for _ in range(50)]
    for client in clients:
        client.send_bytes(request * 100)
    with attacked.connect() as witness:
        metadata(witness, [LARGE])  # By then every one of them has been served as far as it goes.
    for client in clients:
        client.close()
    settled_files(attacked, files)


@pytest.mark.usefixtures("undisturbed")
def test_asking_without_reading(attacked: Attacked) -> None:
    """A client that keeps asking must wait once its answers are not taken; what waits is its own memory."""
    request = framed(request_bytes(MetadataRequest(topics=None), 12))
    with attacked.connect() as client:
        client.socket.settimeout(0.5)
        with pytest.raises(TimeoutError):
            for _ in range(1000):
                client.send_bytes(request * 1000)


@pytest.mark.usefixtures("undisturbed")
def test_vanishing_in_the_middle_of_an_answer(attacked: Attacked) -> None:
    files = open_files(attacked.pid)
    for _ in range(30):
        client = WireClient(attacked.port, receive_buffer_bytes=4096)
        client.send(fetch_request(LARGE, {0: 0}), FETCH_BY_NAME)
        client.socket.recv(1)
        client.reset()
    settled_files(attacked, files)


@pytest.mark.usefixtures("undisturbed")
def test_vanishing_while_a_fetch_is_parked(attacked: Attacked) -> None:
    """By goodbye and by reset. Memory after the last round is what it was after the first."""
    files = open_files(attacked.pid)
    request = fetch_request(LARGE, {0: LARGE_BATCHES}, wait_ms=600_000, bytes_min=1 << 30)
    resident = []
    for _ in range(3):
        for number in range(300):
            client = attacked.connect()
            client.send(request, FETCH_BY_NAME)
            if number % 2:
                client.reset()
            else:
                client.close()
        settled_files(attacked, files)
        resident.append(resident_bytes(attacked.pid))
    assert resident[-1] - resident[0] < 3 * MB
    lines = attacked.new_lines()
    assert not lines, "a client that goes away between frames is no news"


@pytest.mark.usefixtures("undisturbed")
def test_vanishing_while_a_flush_is_under_way(attacked: Attacked) -> None:
    files = open_files(attacked.pid)
    for number in range(200):
        client = attacked.connect()
        client.send(produce_request(FLUSHED, {0: batch_of([b"%d" % number])}), PRODUCE_BY_NAME)
        client.reset()
    settled_files(attacked, files)


@pytest.mark.usefixtures("undisturbed")
def test_large_fetch_sessions(attacked: Attacked) -> None:
    """Sessions nobody comes back to, for a million partitions that do not exist."""
    partitions = [
        FetchPartition(partition=index, fetch_offset=0, partition_max_bytes=1) for index in range(5000)
    ]
    request = FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        session_id=0,
        session_epoch=0,
        topics=[FetchTopic(topic="absent", partitions=partitions)],
    )
    with attacked.connect() as client:
        for _ in range(200):
            client.send(request, FETCH_BY_NAME)
            client.receive_frame()


def repeated_fetch(wait_ms: int) -> FetchRequest:
    partition = FetchPartition(partition=0, fetch_offset=LARGE_BATCHES, partition_max_bytes=1)
    topic = FetchTopic(topic=LARGE, partitions=[partition] * 100_000)
    return FetchRequest(max_wait_ms=wait_ms, min_bytes=1 << 30, topics=[topic])


def repeated_describe() -> DescribeConfigsRequest:
    resource = DescribeConfigsResource(
        resource_type=TOPIC_RESOURCE, resource_name=LARGE, configuration_keys=None
    )
    return DescribeConfigsRequest(
        resources=[resource] * 5000, include_synonyms=True, include_documentation=True
    )


@pytest.mark.usefixtures("undisturbed")
@pytest.mark.parametrize(
    ("repeated", "version"),
    [
        pytest.param(MetadataRequest(topics=[MetadataRequestTopic(name=WIDE)] * 2000), 12, id="metadata"),
        pytest.param(repeated_describe(), 4, id="configs"),
        pytest.param(repeated_fetch(0), FETCH_BY_NAME, id="fetch"),
    ],
)
def test_the_same_thing_asked_for_over_and_over(attacked: Attacked, repeated: Request, version: int) -> None:
    """In one request of some kilobytes: the answer must not be that many times as large, nor the work."""
    with attacked.connect() as client:
        client.send(repeated, version)
        with contextlib.suppress(HungUp):
            client.receive_frame()


@pytest.mark.usefixtures("undisturbed")
def test_waiting_for_the_same_thing_over_and_over(attacked: Attacked) -> None:
    """Each append looks at the parked fetch again; it must not take long."""
    with attacked.connect() as waiting, attacked.connect() as client:
        waiting.send(repeated_fetch(600_000), FETCH_BY_NAME)
        with stopwatch() as elapsed_ms:
            for _ in range(40):
                produce_values(client, LARGE, [b"small"])
            assert elapsed_ms() < 5000


@pytest.mark.usefixtures("undisturbed")
def test_a_crowd_that_says_nothing(attacked: Attacked) -> None:
    files = open_files(attacked.pid)
    before = resident_bytes(attacked.pid)
    with crowd(attacked.port, CROWD) as clients:
        metadata(clients[-1], [LARGE])
        assert open_files(attacked.pid) >= files + CROWD
        assert resident_bytes(attacked.pid) - before < 16 * MB
    settled_files(attacked, files)


@pytest.mark.usefixtures("undisturbed")
def test_a_crowd_in_the_middle_of_a_frame(attacked: Attacked) -> None:
    """Each holds as much of the broker's memory as it has sent, not as it has announced."""
    frame = framed(request_bytes(produce_request(LARGE, {0: batch_of([bytes(MB // 2)])}), PRODUCE_BY_NAME))
    with crowd(attacked.port, CROWD // 2) as clients, attacked.connect() as witness:
        for client in clients:
            client.send_bytes(frame[:2000])
        metadata(witness, [LARGE])
        for client in clients[:10]:
            client.send_bytes(frame[2000:])
            client.receive_frame()


@pytest.mark.parametrize("setting", ["max_connections", "max_connections_per_ip"])
def test_connection_limit(start_broker: StartBroker, setting: str) -> None:
    broker = start_broker(**{setting: "5"})
    with crowd(broker.port, 5) as clients:
        for client in clients:
            metadata(client, [])
        with WireClient(broker.port) as one_too_many:
            assert one_too_many.is_closed_by_broker()
        rejections = [line for line in broker.log_text().splitlines() if "reject" in line]
        assert len(rejections) == 1
        assert setting.replace("_", ".") in rejections[0] and "127.0.0.1" in rejections[0]
        metadata(clients[0], [])
        clients.pop().close()
        wait_until(lambda: _is_admitted(broker.port), "the place is free again")


def _is_admitted(port: int) -> bool:
    with WireClient(port) as client:
        try:
            metadata(client, [])
        except (HungUp, ConnectionError):
            return False
        return True


def test_idle_connections_are_closed(start_broker: StartBroker) -> None:
    broker = start_broker(connections_max_idle_ms="400")
    with WireClient(broker.port) as idle, WireClient(broker.port) as busy:
        start = time.monotonic()
        metadata(idle, [])

        def is_closed() -> bool:
            metadata(busy, [])
            return not idle.is_open()

        wait_until(is_closed, "the idle connection is closed", timeout_s=5)
        assert idle.is_closed_by_broker()
        assert time.monotonic() - start > 0.4
        metadata(busy, [])
