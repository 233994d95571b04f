"""An answer holds a portion a client can take apart while the next is on its way, and every partition gets its turn."""

import time
from collections.abc import Iterator

import pytest

from e2e.conversation import FETCH_BY_NAME, create_topic, fetch_request, produce_values
from e2e.wire import WireClient
from moldau.net import connection
from moldau.testing import LocalCluster

VALUE = bytes(100_000)
BATCHES = 25
"""Of each partition: more than a portion."""
PORTION_BYTES = 2 << 20


@pytest.fixture(scope="module")
def client() -> Iterator[WireClient]:
    """Near the broker, however long the machine takes to answer: a portion grows with the round trip time."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(connection, "_round_trip_us", lambda _: 0)
        yield from connected()


def connected() -> Iterator[WireClient]:
    with LocalCluster() as cluster, WireClient(int(cluster.bootstrap_servers.rpartition(":")[2])) as client:
        for topic, partitions in (("a", 2), ("b", 1)):
            create_topic(client, topic, partitions)
            for partition in range(partitions):
                for _ in range(BATCHES):
                    produce_values(client, topic, [VALUE], partition)
        yield client


def sizes_read(client: WireClient, *, bytes_min: int = 1) -> dict[tuple[str, int], int]:
    request = fetch_request("a", {0: 0, 1: 0}, bytes_min=bytes_min)
    request.topics.extend(fetch_request("b", {0: 0}).topics)
    answer = client.call(request, FETCH_BY_NAME)
    sizes = {
        (topic.topic, partition.partition_index): len(partition.records)
        for topic in answer.responses
        for partition in topic.partitions
    }
    assert sizes.keys() == {("a", 0), ("a", 1), ("b", 0)}
    return sizes


def test_every_partition_gets_its_turn(client: WireClient) -> None:
    served = []
    for _ in range(6):
        sizes = sizes_read(client)
        assert 0 < sum(sizes.values()) <= PORTION_BYTES
        served.append([place for place, size in sizes.items() if size])
    each = [("a", 0), ("a", 1), ("b", 0)]
    assert served == [[place] for place in each + each]


def test_what_a_client_asks_for_at_least_it_gets(client: WireClient) -> None:
    assert sum(sizes_read(client, bytes_min=2 * PORTION_BYTES).values()) >= 2 * PORTION_BYTES


def test_batches_that_do_not_fill_the_answer_do_not_hold_it_up(client: WireClient) -> None:
    """Nine batches and a half are asked for, no more and no less: nine come, at once."""

    def size_read(bytes_wanted: int) -> int:
        request = fetch_request("a", {0: 0}, bytes_min=bytes_wanted, bytes_max=bytes_wanted, wait_ms=20_000)
        (partition,) = client.call(request, FETCH_BY_NAME).responses[0].partitions
        return len(partition.records)

    batch_bytes = size_read(1)
    started = time.monotonic()
    assert size_read(19 * batch_bytes // 2) == 9 * batch_bytes
    assert time.monotonic() - started < 10
