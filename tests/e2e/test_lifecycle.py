"""What outlives a broker process, and how topics come and go."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from compat.moldau_broker import MoldauBroker
from compat.server_process import wait_until
from e2e.conftest import StartBroker
from e2e.conversation import (
    BROKER_RESOURCE,
    EARLIEST,
    FETCH_BY_NAME,
    LATEST,
    TOPIC_RESOURCE,
    batch_of,
    create_topic,
    delete_records,
    delete_topic,
    fetch,
    fetch_request,
    list_offset,
    metadata,
    new_producer_id,
    produce,
    produce_values,
    read_all,
    set_config,
    topic_configs,
    topic_id_of,
    values_of,
)
from e2e.wire import WireClient
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.log.fetch import FetchRequest
from moldau.protocol.messages.log.produce import PartitionProduceData, ProduceRequest, TopicProduceData

pytestmark = pytest.mark.slow

Restart = Callable[[MoldauBroker], MoldauBroker]


def cleanly(broker: MoldauBroker) -> MoldauBroker:
    return broker.restart()


def killed(broker: MoldauBroker) -> MoldauBroker:
    broker.kill9()
    return broker.start()


@pytest.fixture(params=[cleanly, killed])
def restart(request: pytest.FixtureRequest) -> Restart:
    chosen: Restart = request.param
    return chosen


@pytest.fixture
def broker(start_broker: StartBroker) -> MoldauBroker:
    return start_broker(num_partitions="3")


@pytest.fixture
def client(broker: MoldauBroker) -> Iterator[WireClient]:
    with WireClient(broker.port) as client:
        yield client


def test_topics_survive(broker: MoldauBroker, client: WireClient, restart: Restart) -> None:
    configs = {"retention.ms": "86400000", "cleanup.policy": "compact"}
    create_topic(client, "made", 4, configs)
    set_config(client, TOPIC_RESOURCE, "made", max_message_bytes="12345")
    metadata(client, ["on.demand"], may_create=True)
    create_topic(client, "doomed")
    delete_topic(client, "doomed")
    before = metadata(client, None)
    restart(broker)
    with WireClient(broker.port) as again:
        assert metadata(again, None) == before
        by_name = {topic.name: topic for topic in before.topics}
        assert by_name.keys() == {"made", "on.demand"}
        assert len(by_name["on.demand"].partitions) == 3
        assert {**configs, "max.message.bytes": "12345"}.items() <= topic_configs(again, "made").items()


def test_records_survive(broker: MoldauBroker, client: WireClient, restart: Restart) -> None:
    create_topic(client, "kept", configs={"internal.segment.bytes": "2000"})
    for number in range(50):
        timestamp_ms = 1_700_000_000_000 + number * 1000
        produce_values(client, "kept", [b"%d" % number, bytes(100)], timestamp_ms=timestamp_ms)
    before = read_all(client, "kept")
    asked = [1_700_000_000_000, 1_700_000_020_500, 1_700_000_049_000, 1_700_000_049_001]
    found = [list_offset(client, "kept", timestamp) for timestamp in asked]
    assert found == [0, 42, 98, -1]
    restart(broker)
    with WireClient(broker.port) as again:
        assert read_all(again, "kept") == before
        assert [list_offset(again, "kept", timestamp) for timestamp in asked] == found
        assert produce_values(again, "kept", [b"next"]) == 100


def test_producers_survive(broker: MoldauBroker, client: WireClient, restart: Restart) -> None:
    create_topic(client, "kept")
    producer_id = new_producer_id(client)

    def append(client: WireClient, sequence: int, value: bytes) -> Any:
        batch = batch_of([value], producer_id=producer_id, producer_epoch=0, base_sequence=sequence)
        return produce(client, "kept", batch)

    for sequence in range(4):
        assert append(client, sequence, b"%d" % sequence).base_offset == sequence
    restart(broker)
    with WireClient(broker.port) as again:
        repeated = append(again, 3, b"3")
        assert (repeated.error_code, repeated.base_offset) == (0, 3), "recognised, not written again"
        assert append(again, 5, b"5").error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        assert append(again, 4, b"4").base_offset == 4
        assert values_of(again, "kept") == [b"0", b"1", b"2", b"3", b"4"]
        assert new_producer_id(again) > producer_id, "never handed out twice"


def test_deleted_records_stay_deleted(broker: MoldauBroker, client: WireClient) -> None:
    create_topic(client, "kept")
    for number in range(10):
        produce_values(client, "kept", [b"%d" % number])
    assert delete_records(client, "kept", 4).low_watermark == 4
    assert list_offset(client, "kept", EARLIEST) == 4
    assert fetch(client, "kept", 3).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert delete_records(client, "kept", 11).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    broker.restart()
    with WireClient(broker.port) as again:
        assert values_of(again, "kept") == [b"%d" % number for number in range(4, 10)]
        assert delete_records(again, "kept", -1).low_watermark == 10
        assert values_of(again, "kept") == []
        assert produce_values(again, "kept", [b"next"]) == 10


def test_dynamic_broker_settings_survive(broker: MoldauBroker, client: WireClient, restart: Restart) -> None:
    create_topic(client, "small")
    set_config(client, BROKER_RESOURCE, "", message_max_bytes="1000")
    assert produce(client, "small", batch_of([bytes(2000)])).error_code == ErrorCode.MESSAGE_TOO_LARGE
    restart(broker)
    with WireClient(broker.port) as again:
        assert produce(again, "small", batch_of([bytes(2000)])).error_code == ErrorCode.MESSAGE_TOO_LARGE
        set_config(again, TOPIC_RESOURCE, "small", max_message_bytes="5000")
        produce_values(again, "small", [bytes(2000)])


def test_no_topics_on_demand_where_forbidden(start_broker: StartBroker) -> None:
    broker = start_broker(auto_create_topics_enable="false")
    with WireClient(broker.port) as client:
        (topic,) = metadata(client, ["absent"], may_create=True).topics
        assert topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert metadata(client, None).topics == []


def test_a_topic_made_anew_is_another_topic(broker: MoldauBroker, client: WireClient) -> None:
    old_id = create_topic(client, "phoenix")
    produce_values(client, "phoenix", [b"old"])
    delete_topic(client, "phoenix")
    new_id = create_topic(client, "phoenix")
    assert new_id != old_id
    assert topic_id_of(client, "phoenix") == new_id
    assert values_of(client, "phoenix") == []
    assert fetch(client, "phoenix", 0, topic_id=old_id).error_code == ErrorCode.UNKNOWN_TOPIC_ID
    assert fetch(client, "phoenix", 0, topic_id=new_id).error_code == ErrorCode.NONE
    data = PartitionProduceData(index=0, records=batch_of([b"late"]))
    stale = TopicProduceData(topic_id=old_id, partition_data=[data])  # type: ignore[arg-type]
    answer = client.call(ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[stale]))
    assert answer.responses[0].partition_responses[0].error_code == ErrorCode.UNKNOWN_TOPIC_ID
    broker.restart()
    with WireClient(broker.port) as again:
        assert topic_id_of(again, "phoenix") == new_id
        assert values_of(again, "phoenix") == []


def test_deleting_a_topic_that_is_being_waited_for(broker: MoldauBroker, client: WireClient) -> None:
    create_topic(client, "doomed")
    produce_values(client, "doomed", [b"value"])
    with WireClient(broker.port) as waiting:
        correlation_id = waiting.send(fetch_request("doomed", {0: 1}, wait_ms=60_000), FETCH_BY_NAME)
        list_offset(client, "doomed", LATEST)
        delete_topic(client, "doomed")
        answer = waiting.receive(FetchRequest, FETCH_BY_NAME, correlation_id)
        (partition,) = answer.responses[0].partitions
        assert partition.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert fetch(client, "doomed", 0).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    gone = produce(client, "doomed", batch_of([b"late"]))
    assert gone.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    wait_until(lambda: not list(broker.log_dir.glob("doomed*")), "its files are gone", timeout_s=5)


def test_deleting_topics_under_fetches_and_appends(broker: MoldauBroker, client: WireClient) -> None:
    """Readers and writers see whole batches or an error, never anything else, and the broker goes on."""
    is_over = threading.Event()
    failures: list[BaseException] = []

    def work(act: Callable[[WireClient], Any]) -> None:
        try:
            with WireClient(broker.port) as worker:
                while not is_over.is_set():
                    answer = act(worker)
                    assert answer.error_code in (0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        except BaseException as failure:  # noqa: BLE001  The test's thread raises it.
            failures.append(failure)

    acts: list[Callable[[WireClient], Any]] = [
        lambda worker: fetch(worker, "flickering", 0, wait_ms=5),
        lambda worker: produce(worker, "flickering", batch_of([bytes(50_000)])),
    ]
    workers = [threading.Thread(target=work, args=(act,)) for act in acts * 2]
    for worker in workers:
        worker.start()
    ids = set()
    for _ in range(15):
        ids.add(create_topic(client, "flickering", configs={"internal.segment.bytes": "100000"}))
        wait_until(lambda: list_offset(client, "flickering", LATEST) > 3, "something is written")
        delete_topic(client, "flickering")
    is_over.set()
    for worker in workers:
        worker.join()
    assert not failures, failures[0]
    assert len(ids) == 15


def host_told(port: int, host: str) -> tuple[str, int]:
    with WireClient(port, host) as client:
        (told,) = metadata(client, []).brokers
        return told.host, told.port


def test_clients_are_told_the_address_they_dialled(start_broker: StartBroker) -> None:
    everywhere = start_broker("everywhere", listeners="PLAINTEXT://:0")
    port = int(everywhere.log_text().split("ready")[1].split()[0].rsplit(":", 1)[1])
    assert host_told(port, "127.0.0.1") == ("127.0.0.1", port)
    assert host_told(port, "127.0.0.2") == ("127.0.0.2", port)
    assert host_told(port, "localhost") == ("127.0.0.1", port)
    assert host_told(port, "::1") == ("::1", port)


def test_clients_are_told_what_is_advertised(start_broker: StartBroker) -> None:
    broker = start_broker(advertised_listeners="PLAINTEXT://kafka.example.com:1234")
    assert host_told(broker.port, "127.0.0.1") == ("kafka.example.com", 1234)
