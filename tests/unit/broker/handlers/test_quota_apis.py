"""DescribeClientQuotas and AlterClientQuotas, and what quotas do to requests."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from admin_rig import Connection, Rig, make_rig

from access_requests import made, record_batch
from moldau.broker.handlers.quotas import alter_client_quotas, describe_client_quotas
from moldau.broker.handlers.topics import create_partitions, create_topics, delete_topics, metadata
from moldau.broker.request.client_session import ClientSession
from moldau.core.chunks import FileSlice
from moldau.protocol import codec
from moldau.protocol.headers import RequestHeader, decode_response_header, encode_request_header
from moldau.protocol.messages.log.fetch import FetchRequest
from moldau.protocol.messages.log.produce import ProduceRequest
from moldau.protocol.messages.security.alter_client_quotas import AlterClientQuotasRequest
from moldau.protocol.messages.security.describe_client_quotas import DescribeClientQuotasRequest
from moldau.protocol.messages.topics.create_partitions import CreatePartitionsRequest
from moldau.protocol.messages.topics.create_topics import CreateTopicsRequest
from moldau.protocol.messages.topics.delete_topics import DeleteTopicsRequest
from moldau.protocol.messages.topics.metadata import MetadataRequest
from moldau.protocol.spec import Request

THROTTLED = 89
ANONYMOUS = {"entity_type": "user", "entity_name": "ANONYMOUS"}
APP = {"entity_type": "client-id", "entity_name": "app"}


class Resting(Connection):
    """Notes how long the client has to wait."""

    def __init__(self) -> None:
        self.rests_s: list[float] = []

    def rest(self, seconds: float) -> None:
        self.rests_s.append(seconds)


@pytest.fixture
def rig() -> Iterator[Rig]:
    made_rig = make_rig()
    yield replace(made_rig, client=replace(made_rig.client, connection=Resting(), client_id="app"))
    made_rig.store.close()


def rests(rig: Rig) -> list[float]:
    connection: Any = rig.client.connection
    return list(connection.rests_s)


def alter(rig: Rig, entity: list[dict[str, Any]], ops: dict[str, float | None], **more: Any) -> int:
    every = [{"key": key, "value": value or 0.0, "remove": value is None} for key, value in ops.items()]
    body = {"entries": [{"entity": entity, "ops": every}], "validate_only": False} | more
    (result,) = rig.ask(alter_client_quotas.API, made(AlterClientQuotasRequest, 1, body)).entries
    return int(result.error_code)


def described(rig: Rig, *components: tuple[str, int, str | None], strict: bool = False) -> Any:
    body = {
        "components": [
            {"entity_type": kind, "match_type": how, "match": name} for kind, how, name in components
        ],
        "strict": strict,
    }
    answer = rig.ask(describe_client_quotas.API, made(DescribeClientQuotasRequest, 1, body))
    if answer.error_code:
        return answer.error_code
    return {
        tuple((part.entity_type, part.entity_name) for part in entry.entity): {
            each.key: each.value for each in entry.values
        }
        for entry in answer.entries
    }


def test_quotas_are_set_described_and_removed(rig: Rig) -> None:
    assert alter(rig, [APP, ANONYMOUS], {"producer_byte_rate": 1024.0, "request_percentage": 12.5}) == 0
    assert alter(rig, [{"entity_type": "user", "entity_name": None}], {"consumer_byte_rate": 5.0}) == 0
    both = (("user", "ANONYMOUS"), ("client-id", "app"))
    assert described(rig) == {
        both: {"producer_byte_rate": 1024.0, "request_percentage": 12.5},
        (("user", None),): {"consumer_byte_rate": 5.0},
    }
    assert described(rig, ("user", 1, None)) == {(("user", None),): {"consumer_byte_rate": 5.0}}
    assert alter(rig, [ANONYMOUS, APP], {"producer_byte_rate": None}) == 0
    assert described(rig, ("client-id", 0, "app")) == {both: {"request_percentage": 12.5}}
    assert alter(rig, [ANONYMOUS, APP], {"request_percentage": None}) == 0
    assert described(rig, ("client-id", 2, None)) == {}


def test_a_dry_run_changes_nothing_and_nonsense_is_refused(rig: Rig) -> None:
    assert alter(rig, [APP], {"producer_byte_rate": 1024.0}, validate_only=True) == 0
    assert alter(rig, [APP], {"producer_byte_rate": 0.0}) == 42
    assert alter(rig, [APP], {"speed": 1.0}) == 42
    assert described(rig) == {}
    assert described(rig, ("group", 2, None)) == 35
    assert described(rig, ("user", 0, None)) == 42


def create(rig: Rig, name: str, partitions: int = 1, version: int = 7) -> Any:
    topic = {
        "name": name, "num_partitions": partitions, "replication_factor": 1, "assignments": [], "configs": [],
    }  # fmt: skip
    answer = rig.ask(create_topics.API, made(CreateTopicsRequest, version, {"topics": [topic]}), version)
    return answer.topics[0].error_code, answer.throttle_time_ms


def test_creating_waits_for_the_quota_on_mutations(rig: Rig) -> None:
    assert alter(rig, [ANONYMOUS], {"controller_mutation_rate": 1.0}) == 0
    assert create(rig, "first", 21) == (0, 0)
    assert create(rig, "second") == (THROTTLED, 10_000)
    assert rests(rig) == [10.0]
    body = {
        "topics": [{"name": "first", "count": 22, "assignments": None}],
        "timeout_ms": 1,
        "validate_only": False,
    }
    grown = rig.ask(create_partitions.API, made(CreatePartitionsRequest, 3, body))
    assert (grown.results[0].error_code, grown.throttle_time_ms) == (THROTTLED, 10_000)
    doomed = {"topics": [{"name": "first", "topic_id": bytes(16)}], "timeout_ms": 1}
    deleted = rig.ask(delete_topics.API, made(DeleteTopicsRequest, 6, doomed))
    assert (deleted.responses[0].error_code, deleted.throttle_time_ms) == (THROTTLED, 10_000)
    assert create(rig, "old", version=5) == (0, 11_000)  # It does not know the error, and waits longer.
    rig.clock.advance(11_000)
    assert create(rig, "second") == (0, 0)


def test_topics_that_are_created_in_passing_count_too(rig: Rig) -> None:
    assert alter(rig, [ANONYMOUS], {"controller_mutation_rate": 1.0}) == 0
    create(rig, "first", 11)

    def named(topic: str) -> int:
        body = {"topics": [{"name": topic}], "allow_auto_topic_creation": True}
        return int(rig.ask(metadata.API, made(MetadataRequest, 9, body), 9).topics[0].error_code)

    assert [named("second"), named("third")] == [0, 3]


def sent(session: ClientSession, request: Request, version: int) -> Any:
    header = encode_request_header(RequestHeader(request.API_KEY, version, 1, "app"))
    chunks = session.on_frame(memoryview(bytearray(header + codec.encode(request, version))))
    assert chunks is not None, "it waits"
    parts = (chunk.read() if isinstance(chunk, FileSlice) else bytes(chunk) for chunk in chunks)
    frame = b"".join(parts)[4:]
    _, position = decode_response_header(request.API_KEY, version, frame)
    return codec.decode(type(request).RESPONSE, version, frame, position)[0]


def produce(session: ClientSession, topic: str) -> Any:
    data = [{"index": 0, "records": record_batch()}]
    body = {"acks": 1, "timeout_ms": 1000, "topic_data": [{"name": topic, "partition_data": data}]}
    return sent(session, made(ProduceRequest, 9, body), 9)


def fetch(session: ClientSession, topic: str, **more: Any) -> Any:
    wanted = [{"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1 << 20}]
    body = {
        "replica_id": -1, "max_wait_ms": 0, "min_bytes": 1, "session_epoch": -1,
        "topics": [{"topic": topic, "partitions": wanted}],
    }  # fmt: skip
    return sent(session, made(FetchRequest, 12, body | more), 12)


def test_a_producer_above_its_quota_is_told_to_wait(rig: Rig) -> None:
    create(rig, "busy")
    session = ClientSession(rig.broker, rig.client.connection)
    assert alter(rig, [ANONYMOUS], {"producer_byte_rate": 18.0}) == 0
    first, second = produce(session, "busy"), produce(session, "busy")
    assert (first.throttle_time_ms, first.responses[0].partition_responses[0].error_code) == (0, 0)
    assert second.throttle_time_ms > 0 and second.responses[0].partition_responses[0].error_code == 0
    assert rests(rig) == [second.throttle_time_ms / 1000]
    assert alter(rig, [ANONYMOUS], {"producer_byte_rate": None}) == 0
    assert produce(session, "busy").throttle_time_ms == 0


def test_a_consumer_above_its_quota_gets_an_empty_answer(rig: Rig) -> None:
    create(rig, "busy")
    session = ClientSession(rig.broker, rig.client.connection)
    for _ in range(4):
        produce(session, "busy")
    assert alter(rig, [APP], {"consumer_byte_rate": 20.0}) == 0
    first, second = fetch(session, "busy"), fetch(session, "busy", session_epoch=0)
    assert len(first.responses[0].partitions[0].records) == 200, "no more than the quota of a window"
    assert (list(second.responses), second.session_id, second.error_code) == ([], 0, 0)
    assert rests(rig) == [second.throttle_time_ms / 1000] and second.throttle_time_ms > 0
    rig.clock.advance(20_000)
    assert len(fetch(session, "busy").responses) == 1


def test_requests_that_take_too_much_time_wait(rig: Rig) -> None:
    session = ClientSession(rig.broker, rig.client.connection)
    assert alter(rig, [ANONYMOUS], {"request_percentage": 0.000001}) == 0
    everything = made(MetadataRequest, 9, {"topics": None})
    assert sent(session, everything, 9).throttle_time_ms == 0
    assert sent(session, everything, 9).throttle_time_ms == 1000
    assert rests(rig) == [1.0]


def test_followers_do_not_wait_but_what_else_they_send_does(rig: Rig) -> None:
    create(rig, "busy")
    session = ClientSession(rig.broker, rig.client.connection)
    fetch(session, "busy", replica_id=7)
    assert alter(rig, [ANONYMOUS], {"request_percentage": 0.000001, "producer_byte_rate": 1.0}) == 0
    for _ in range(3):
        assert fetch(session, "busy", replica_id=7).throttle_time_ms == 0
    assert produce(session, "busy").throttle_time_ms > 0
