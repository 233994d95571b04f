"""What clients see of the faults a test arms, over a bare socket and with a client library."""

import time

import pytest
from confluent_kafka import KafkaError, Producer

from e2e.conversation import (
    EARLIEST,
    FETCH_BY_NAME,
    PRODUCE_BY_NAME,
    batch_of,
    fetch_request,
    list_offset,
    metadata,
    produce,
    produce_request,
    produce_values,
    values_of,
)
from e2e.wire import HungUp, WireClient
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.log.fetch import FetchPartition, FetchRequest, FetchTopic
from moldau.protocol.messages.topics.metadata import MetadataRequest
from moldau.testing import LocalCluster

HOUR_MS = 3_600_000
DELAY_MS = 60


@pytest.fixture
def topic(cluster: LocalCluster, request: pytest.FixtureRequest) -> str:
    return cluster.create_topic(request.node.originalname)


def test_fail_answers_once_and_carries_nothing_out(
    cluster: LocalCluster, client: WireClient, topic: str
) -> None:
    fault = cluster.faults.fail("Produce", "NOT_LEADER_OR_FOLLOWER")
    refused = produce(client, topic, batch_of([b"lost"]))
    assert (refused.error_code, refused.base_offset) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)
    assert (fault.hits, cluster.faults.armed) == (1, [])
    assert produce_values(client, topic, [b"stored"]) == 0
    assert values_of(client, topic) == [b"stored"]


def test_drop_closes_without_an_answer(cluster: LocalCluster, client: WireClient, topic: str) -> None:
    cluster.faults.drop("Produce")
    with pytest.raises(HungUp):
        produce(client, topic, batch_of([b"lost"]))
    with WireClient(_port(cluster)) as other:
        assert values_of(other, topic) == []


def test_drop_of_what_was_served_loses_only_the_answer(
    cluster: LocalCluster, client: WireClient, topic: str
) -> None:
    cluster.faults.drop("Produce", is_served=True)
    with pytest.raises(HungUp):
        produce(client, topic, batch_of([b"stored"]))
    with WireClient(_port(cluster)) as other:
        assert values_of(other, topic) == [b"stored"]


def test_delay_holds_the_request_back(cluster: LocalCluster, client: WireClient, topic: str) -> None:
    cluster.faults.delay("ListOffsets", DELAY_MS)
    begun = time.monotonic()
    assert list_offset(client, topic, EARLIEST) == 0
    assert time.monotonic() - begun >= DELAY_MS / 1000
    begun = time.monotonic()
    list_offset(client, topic, EARLIEST)
    assert time.monotonic() - begun < DELAY_MS / 1000


def test_delays_pass_with_the_clusters_clock(cluster: LocalCluster, client: WireClient, topic: str) -> None:
    """Other clients do not wait, and a delayed fetch still waits for records."""
    fault = cluster.faults.delay("Fetch", HOUR_MS)
    request = fetch_request(topic, {0: 0}, wait_ms=2 * HOUR_MS)
    correlation_id = client.send(request, FETCH_BY_NAME)
    with WireClient(_port(cluster)) as other:
        produce_values(other, topic, [b"here"])
        assert fault.hits == 1
        cluster.clock.advance(HOUR_MS / 1000)
    answer = client.receive(FetchRequest, FETCH_BY_NAME, correlation_id)
    assert b"here" in bytes(answer.responses[0].partitions[0].records)


def test_a_client_may_leave_while_it_is_delayed(
    cluster: LocalCluster, client: WireClient, topic: str
) -> None:
    fault = cluster.faults.delay("Produce", HOUR_MS)
    client.send(produce_request(topic, {0: batch_of([b"never"])}), PRODUCE_BY_NAME)
    with WireClient(_port(cluster)) as other:
        values_of(other, topic)
        assert fault.hits == 1
        client.close()
        values_of(other, topic)
        cluster.clock.advance(HOUR_MS / 1000)
        assert values_of(other, topic) == []


def test_a_fault_is_met_as_often_as_asked_for(cluster: LocalCluster, client: WireClient, topic: str) -> None:
    cluster.faults.fail("Produce", ErrorCode.NOT_ENOUGH_REPLICAS, times=2)
    cluster.faults.fail("Produce", ErrorCode.REQUEST_TIMED_OUT)
    codes = [produce(client, topic, batch_of([b"x"])).error_code for _ in range(4)]
    assert codes == [
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.NONE,
    ]


def test_a_fault_without_end_ends_with_clear(cluster: LocalCluster, client: WireClient, topic: str) -> None:
    fault = cluster.faults.fail("Produce", "NOT_ENOUGH_REPLICAS", times=None)
    for _ in range(5):
        assert produce(client, topic, batch_of([b"x"])).error_code
    cluster.faults.clear()
    assert not produce(client, topic, batch_of([b"x"])).error_code
    assert fault.hits == 5


def test_one_api_does_not_meet_the_faults_of_another(
    cluster: LocalCluster, client: WireClient, topic: str
) -> None:
    fault = cluster.faults.drop("JoinGroup")
    assert produce_values(client, topic, [b"x"]) == 0
    assert (fault.hits, cluster.faults.armed) == (0, [fault])


def test_who_wants_no_answer_is_hung_up_on(cluster: LocalCluster, client: WireClient, topic: str) -> None:
    cluster.faults.fail("Produce", "MESSAGE_TOO_LARGE")
    client.send(produce_request(topic, {0: batch_of([b"x"])}, acks=0), PRODUCE_BY_NAME)
    assert client.is_closed_by_broker()


def test_metadata_says_which_topics_failed_and_who_the_brokers_are(
    cluster: LocalCluster, client: WireClient, topic: str
) -> None:
    fault = cluster.faults.fail("Metadata", "LEADER_NOT_AVAILABLE", times=3)
    assert client.call(MetadataRequest(topics=[])).topics == []
    assert fault.hits == 0, "nothing was asked for that could fail"
    for names in ([topic], None):
        answer = metadata(client, names)
        failed = {each.name: each.error_code for each in answer.topics}
        assert failed[topic] == ErrorCode.LEADER_NOT_AVAILABLE
        assert [(broker.host, broker.port) for broker in answer.brokers] == [("127.0.0.1", _port(cluster))]
    metadata(client, ["not-there"], may_create=True)
    assert fault.hits == 3
    known = {each.name for each in metadata(client, None).topics}
    assert "not-there" not in known


def test_an_incremental_fetch_fails_for_all_the_session_reads(
    cluster: LocalCluster, client: WireClient
) -> None:
    """Although the request names nothing (KIP-227); the client also learns that it must start a new session."""
    cluster.create_topic("session", partitions=2)
    first = client.call(_session_fetch(0, 0, [0, 1]), FETCH_BY_NAME)
    assert first.session_id
    cluster.faults.fail("Fetch", "NOT_LEADER_OR_FOLLOWER")
    failed = client.call(_session_fetch(first.session_id, 1, []), FETCH_BY_NAME)
    assert (failed.error_code, failed.session_id) == (ErrorCode.NONE, 0)
    codes = {
        (topic.topic, partition.partition_index): partition.error_code
        for topic in failed.responses
        for partition in topic.partitions
    }
    assert codes == dict.fromkeys([("session", 0), ("session", 1)], ErrorCode.NOT_LEADER_OR_FOLLOWER)
    again = client.call(_session_fetch(0, 0, [0, 1]), FETCH_BY_NAME)
    assert again.session_id and not again.error_code


def test_errors_of_fetch_sessions_are_about_the_whole_answer(
    cluster: LocalCluster, client: WireClient, topic: str
) -> None:
    cluster.faults.fail("Fetch", "FETCH_SESSION_ID_NOT_FOUND")
    answer = client.call(fetch_request(topic, {0: 0}), FETCH_BY_NAME)
    assert (answer.error_code, answer.responses) == (ErrorCode.FETCH_SESSION_ID_NOT_FOUND, [])


def test_a_client_library_gets_over_it(cluster: LocalCluster, topic: str) -> None:
    """Each record is stored once, in order: what an idempotent producer promises."""
    faults = cluster.faults
    armed = [
        faults.fail("InitProducerId", "COORDINATOR_LOAD_IN_PROGRESS"),
        faults.fail("Produce", "NOT_LEADER_OR_FOLLOWER"),
        faults.drop("Produce", is_served=True),
        faults.drop("Produce"),
        faults.delay("Produce", 10),
    ]
    problems: list[KafkaError] = []
    producer = Producer(
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "enable.idempotence": True,
            "retry.backoff.ms": 5,
            "reconnect.backoff.ms": 5,
            "linger.ms": 0,
            "log_level": 0,
        }
    )
    for number in range(5):
        producer.produce(
            topic, str(number), on_delivery=lambda problem, _: problem and problems.append(problem)
        )
    assert producer.flush(30) == 0
    assert problems == []
    assert [fault.hits for fault in armed] == [1] * len(armed)
    with WireClient(_port(cluster)) as client:
        assert values_of(client, topic) == [b"0", b"1", b"2", b"3", b"4"]


@pytest.mark.parametrize(
    ("api", "code", "complaint"),
    [
        ("Produse", "UNKNOWN_SERVER_ERROR", "did you mean Produce"),
        ("Produce", "NOT_LEADER", "did you mean NOT_LEADER_OR_FOLLOWER"),
        ("Produce", ErrorCode.NONE, "is not an error"),
        ("ApiVersions", "UNSUPPORTED_VERSION", "it supports AddOffsetsToTxn, |it supports AlterConfigs, "),
    ],
)
def test_what_cannot_be_armed_is_refused(api: str, code: ErrorCode | str, complaint: str) -> None:
    cluster = LocalCluster()
    with pytest.raises(ValueError, match=complaint):
        cluster.faults.fail(api, code)
    assert cluster.faults.armed == []


def test_times_and_delays_must_make_sense() -> None:
    faults = LocalCluster().faults
    with pytest.raises(ValueError, match="0 times"):
        faults.drop("Fetch", times=0)
    with pytest.raises(ValueError, match="-1 ms"):
        faults.delay("Fetch", -1)


def _port(cluster: LocalCluster) -> int:
    return int(cluster.bootstrap_servers.rpartition(":")[2])


def _session_fetch(session_id: int, epoch: int, partitions: list[int]) -> FetchRequest:
    wanted = [FetchPartition(partition=each, fetch_offset=0, partition_max_bytes=1000) for each in partitions]
    topics = [FetchTopic(topic="session", partitions=wanted)] if wanted else []
    return FetchRequest(max_wait_ms=0, min_bytes=1, session_id=session_id, session_epoch=epoch, topics=topics)
