"""Every API that asks for access: with all that Kafka wants granted it is carried out, without any part of it not."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from admin_rig import DATA, Connection, Rig, make_rig

from access_cases import CASES
from access_requests import (
    CLUSTER,
    CODES,
    GROUP,
    TOPIC,
    TRANSACTIONAL_ID,
    Case,
    Need,
    World,
    codes_in,
    made,
    record_batch,
)
from moldau.broker.handlers import HANDLERS
from moldau.broker.handlers.groups import consumer_group_heartbeat
from moldau.broker.handlers.topics import create_topics, delete_topics, metadata
from moldau.broker.request.client_session import Client, ClientSession
from moldau.core.chunks import FileSlice
from moldau.core.error_codes import ErrorCode
from moldau.protocol import codec
from moldau.protocol.headers import RequestHeader, decode_response_header, encode_request_header
from moldau.protocol.messages.groups.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from moldau.protocol.messages.log.fetch import FetchRequest
from moldau.protocol.messages.log.produce import ProduceRequest
from moldau.protocol.messages.topics.create_topics import CreatableTopic, CreateTopicsRequest
from moldau.protocol.messages.topics.delete_topics import DeleteTopicsRequest
from moldau.protocol.messages.topics.metadata import MetadataRequest
from moldau.protocol.spec import Request
from moldau.security.access.kafka_authorizer import KafkaAuthorizer
from moldau.security.access.model import CLUSTER_NAME, Operation, Pattern, Permission, ResourceKind, Rule
from moldau.security.access.rules import Rules

APIS = {spec.key: spec for spec in HANDLERS}
FORBIDDEN = frozenset(CODES.values())
_numbers = itertools.count()
WITHOUT = [(case, need) for case in CASES for need in case.needs]


def granted(world: World, needs: Iterable[Need], principal: str = "User:alice") -> list[Rule]:
    names = {TOPIC: [world.topic, world.doomed, world.fresh], GROUP: [world.group, world.fresh]}
    names |= {CLUSTER: [CLUSTER_NAME], TRANSACTIONAL_ID: [world.transactional_id]}
    return [
        Rule(kind, name, Pattern.LITERAL, principal, "*", operation, Permission.ALLOW)
        for operation, kind in needs
        for name in names[kind]
    ]


def guarded(rig: Rig, rules: Iterable[Rule], principal: str = "User:alice") -> Rig:
    authorizer = KafkaAuthorizer(Rules(rules), super_users=frozenset({"User:admin"}))
    client = Client(Connection(), client_id="tester", principal=principal)
    return replace(rig, broker=replace(rig.broker, authorizer=authorizer), client=client)


def create_topic(rig: Rig) -> str:
    name = f"topic-{next(_numbers)}"
    create(rig, name)
    return name


def create(rig: Rig, name: str) -> bytes:
    topic = CreatableTopic(name=name, num_partitions=1, replication_factor=1, assignments=[], configs=[])
    (result,) = rig.ask(create_topics.API, CreateTopicsRequest(topics=[topic])).topics
    assert result.error_code == 0, result.error_message
    return bytes(result.topic_id)


@pytest.fixture(scope="module")
def open_rig() -> Iterator[Rig]:
    made = make_rig()
    yield made
    made.store.close()


@pytest.fixture
def world(open_rig: Rig) -> World:
    """Of names that no other test uses."""
    number = next(_numbers)
    seen, doomed = f"seen-{number}", f"doomed-{number}"
    topic_id, doomed_id = create(open_rig, seen), create(open_rig, doomed)
    made = World(
        seen, topic_id, doomed, doomed_id, f"fresh-{number}", f"readers-{number}", f"writer-{number}", DATA, 1
    )
    asked(
        open_rig, next(case for case in CASES if case.api == "OffsetCommit"), made, 2
    )  # The group is there.
    return made


def asked(rig: Rig, case: Case, world: World, version: int) -> Any:
    return send(rig, case.made(world, version), version)


def send(rig: Rig, request: Request, version: int) -> Any:
    spec = APIS[request.API_KEY]
    if spec.handle is not None:
        return rig.ask(spec, request, version)
    return sent_as_frame(rig, request, version)


def sent_as_frame(rig: Rig, request: Request, version: int) -> Any:
    session = ClientSession(rig.broker, rig.client.connection)
    session.client.principal = rig.client.principal
    header = encode_request_header(RequestHeader(request.API_KEY, version, 1, "tester"))
    chunks = session.on_frame(memoryview(bytearray(header + codec.encode(request, version))))
    assert chunks is not None, "it waits"
    parts = (chunk.read() if isinstance(chunk, FileSlice) else bytes(chunk) for chunk in chunks)
    frame = b"".join(parts)[4:]
    _, position = decode_response_header(request.API_KEY, version, frame)
    return codec.decode(type(request).RESPONSE, version, frame, position)[0]


def named(value: object) -> str:
    return value.name.replace(" ", "-") if isinstance(value, Case) else "-".join(each.name for each in value)  # type: ignore[attr-defined]


@pytest.mark.parametrize("case", CASES, ids=named)
def test_what_is_granted_is_done(case: Case, open_rig: Rig, world: World) -> None:
    rig = guarded(open_rig, granted(world, case.needs))
    answer = asked(rig, case, world, case.version_range[0])
    if case.needs:
        assert not codes_in(answer) & FORBIDDEN


@pytest.mark.parametrize(("case", "need"), WITHOUT, ids=named)
def test_what_lacks_one_grant_is_refused(case: Case, need: Need, open_rig: Rig, world: World) -> None:
    rig = guarded(open_rig, granted(world, [each for each in case.needs if each != need]))
    for version in {case.version_range[0], case.version_range[-1]}:
        assert CODES[need[1]] in codes_in(asked(rig, case, world, version)), f"v{version}"


def allowed(*needs: tuple[Operation, ResourceKind, str]) -> list[Rule]:
    return [
        Rule(kind, name, Pattern.LITERAL, "User:alice", "*", operation, Permission.ALLOW)
        for operation, kind, name in needs
    ]


def produced(rig: Rig, *topics: str) -> dict[str, int]:
    data = [{"index": 0, "records": record_batch()}]
    body = {
        "acks": 1,
        "timeout_ms": 1000,
        "topic_data": [{"name": each, "partition_data": data} for each in topics],
    }
    answer = send(rig, made(ProduceRequest, 9, body), 9)
    return {each.name: each.partition_responses[0].error_code for each in answer.responses}


def test_a_record_goes_where_it_may(open_rig: Rig, world: World) -> None:
    other = create_topic(open_rig)
    rig = guarded(open_rig, allowed((Operation.WRITE, TOPIC, world.topic)))
    assert produced(rig, other, world.topic, "absent") == {other: 29, world.topic: 0, "absent": 29}
    ends = {each: open_rig.broker.partitions.find(each, 0).log.end_offset for each in (other, world.topic)}  # type: ignore[union-attr]
    assert ends == {other: 0, world.topic: 1}


def fetch(rig: Rig, topics: Sequence[str], *, wait_ms: int = 60_000, **more: Any) -> Any:
    wanted = [{"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1000}]
    body = {"replica_id": -1, "max_wait_ms": wait_ms, "min_bytes": 1, "session_epoch": -1} | more
    body["topics"] = [{"topic": each, "partitions": wanted} for each in topics]
    answer = send(rig, made(FetchRequest, 12, body), 12)
    return {each.topic: [part.error_code for part in each.partitions] for each in answer.responses}, answer


def test_a_fetch_of_forbidden_topics_does_not_wait(open_rig: Rig, world: World) -> None:
    rig = guarded(open_rig, [])
    assert fetch(rig, [world.topic])[0] == {world.topic: [29]}


def test_a_fetch_tells_what_is_forbidden_beside_the_records(open_rig: Rig, world: World) -> None:
    other = create_topic(open_rig)
    assert produced(open_rig, world.topic, other) == {world.topic: 0, other: 0}
    rig = guarded(open_rig, allowed((Operation.READ, TOPIC, world.topic)))
    codes, answer = fetch(rig, [other, world.topic])
    assert codes == {world.topic: [0], other: [29]}
    assert [bool(part.records) for each in answer.responses for part in each.partitions] == [True, False]


def test_what_is_forbidden_does_not_end_the_wait(open_rig: Rig, world: World) -> None:
    other = create_topic(open_rig)
    assert produced(open_rig, other) == {other: 0}
    rig = guarded(open_rig, allowed((Operation.READ, TOPIC, world.topic)))
    with pytest.raises(AssertionError, match="it waits"):
        fetch(rig, [other, world.topic])


def test_a_session_asks_with_every_fetch(open_rig: Rig, world: World) -> None:
    rules = Rules(allowed((Operation.READ, TOPIC, world.topic)))
    rig = guarded(open_rig, [])
    rig = replace(rig, broker=replace(rig.broker, authorizer=KafkaAuthorizer(rules)))
    codes, answer = fetch(rig, [world.topic], wait_ms=0, session_epoch=0)
    assert codes == {world.topic: [0]} and answer.session_id
    rules.replace(Rules())
    again, _ = fetch(rig, [], wait_ms=0, session_id=answer.session_id, session_epoch=1)
    assert again == {world.topic: [29]}


def test_only_brokers_follow(open_rig: Rig, world: World) -> None:
    reader = guarded(open_rig, allowed((Operation.READ, TOPIC, world.topic)))
    assert fetch(reader, [world.topic], replica_id=7, wait_ms=0)[0] == {world.topic: [29]}
    with pytest.raises(AssertionError, match="it waits"):
        fetch(reader, [world.topic], replica_id=7)
    assert fetch(reader, [], replica_id=7, session_id=1, session_epoch=1)[1].error_code == 70
    broker = guarded(open_rig, allowed((Operation.CLUSTER_ACTION, CLUSTER, CLUSTER_NAME)))
    assert fetch(broker, [world.topic], replica_id=7, wait_ms=0)[0] != {world.topic: [29]}


def test_metadata_of_one_client_is_not_told_to_another(open_rig: Rig, world: World) -> None:
    rules = allowed((Operation.DESCRIBE, TOPIC, world.topic))
    alice, bob = guarded(open_rig, rules), guarded(open_rig, rules, "User:bob")
    everything = made(MetadataRequest, 12, {"topics": None})
    for rig, seen in ((alice, [world.topic]), (bob, []), (alice, [world.topic])):
        assert [topic.name for topic in sent_as_frame(rig, everything, 12).topics] == seen


def test_forbidden_topics_are_named_as_they_were_asked_for(open_rig: Rig, world: World) -> None:
    rig = guarded(open_rig, [])
    topics = [{"name": world.topic}, {"name": None, "topic_id": world.topic_id}, {"name": "absent"}]
    answer = rig.ask(metadata.API, made(MetadataRequest, 12, {"topics": topics}), 12)
    zero = bytes(16)
    assert {(each.name, bytes(each.topic_id), each.error_code) for each in answer.topics} == {
        (world.topic, zero, 29), (None, world.topic_id, 29), ("absent", zero, 29),
    }  # fmt: skip


def test_operations_are_those_of_the_client(open_rig: Rig, world: World) -> None:
    rig = guarded(
        open_rig,
        allowed((Operation.READ, TOPIC, world.topic), (Operation.ALTER, CLUSTER, CLUSTER_NAME)),
    )
    body = {
        "topics": [{"name": world.topic}], "include_topic_authorized_operations": True,
        "include_cluster_authorized_operations": True,
    }  # fmt: skip
    answer = rig.ask(metadata.API, made(MetadataRequest, 10, body), 10)
    assert answer.topics[0].topic_authorized_operations == 1 << Operation.READ | 1 << Operation.DESCRIBE
    assert answer.cluster_authorized_operations == 1 << Operation.ALTER | 1 << Operation.DESCRIBE
    assert (
        guarded(open_rig, [])
        .ask(metadata.API, made(MetadataRequest, 10, body), 10)
        .cluster_authorized_operations
        == 0
    )


def test_a_creator_sees_settings_only_if_allowed_to(open_rig: Rig, world: World) -> None:
    rig = guarded(open_rig, allowed((Operation.CREATE, CLUSTER, CLUSTER_NAME)))
    topic = CreatableTopic(
        name=world.fresh, num_partitions=1, replication_factor=1, assignments=[], configs=[]
    )
    (result,) = rig.ask(create_topics.API, CreateTopicsRequest(topics=[topic])).topics
    assert (result.error_code, result.topic_config_error_code, result.num_partitions) == (0, 29, -1)


def test_whoever_may_not_delete_learns_no_name_from_an_id(open_rig: Rig, world: World) -> None:
    request = made(
        DeleteTopicsRequest, 6, {"topics": [{"name": None, "topic_id": world.doomed_id}], "timeout_ms": 1}
    )
    for rules, name in (([], None), (allowed((Operation.DESCRIBE, TOPIC, world.doomed)), world.doomed)):
        (result,) = guarded(open_rig, rules).ask(delete_topics.API, request).responses
        assert (result.name, result.error_code) == (name, 29)


def test_other_grants_that_do(open_rig: Rig, world: World) -> None:
    by_topic = guarded(open_rig, allowed((Operation.WRITE, TOPIC, world.topic)))
    by_cluster = guarded(open_rig, allowed((Operation.ALTER, CLUSTER, CLUSTER_NAME)))
    cases = {case.name: case for case in CASES}
    assert codes_in(asked(by_topic, cases["InitProducerId"], world, 4)) == {ErrorCode.NONE}
    assert not codes_in(asked(by_cluster, cases["WriteTxnMarkers"], world, 1)) & FORBIDDEN
    assert codes_in(
        asked(guarded(open_rig, [], "User:admin"), cases["AlterConfigs of a topic"], world, 1)
    ) == {ErrorCode.NONE}


def test_nobody_adds_internal_topics_to_a_transaction(open_rig: Rig, world: World) -> None:
    internal = world._replace(topic="__consumer_offsets")
    case = next(case for case in CASES if case.api == "AddPartitionsToTxn")
    assert ErrorCode.TOPIC_AUTHORIZATION_FAILED in codes_in(asked(open_rig, case, internal, 3))


def test_a_pattern_finds_what_its_member_may_describe() -> None:
    rig = make_rig(
        "authorizer.class.name=kafka.security.authorizer.AclAuthorizer\nsuper.users=User:ANONYMOUS"
    )
    for name in ("logs-a", "logs-b", "other"):
        create(rig, name)
    rules = allowed(
        (Operation.READ, GROUP, "readers"),
        (Operation.DESCRIBE, TOPIC, "logs-a"),
        (Operation.DESCRIBE, TOPIC, "other"),
    )
    alice = guarded(rig, rules)
    session = ClientSession(alice.broker, alice.client.connection)
    session.client.principal = "User:alice"
    alice = replace(alice, client=session.client)
    body = {
        "group_id": "readers", "member_id": "one", "member_epoch": 0, "rebalance_timeout_ms": 10_000,
        "subscribed_topic_regex": "logs-.*", "topic_partitions": [],
    }  # fmt: skip
    answer = alice.ask(consumer_group_heartbeat.API, made(ConsumerGroupHeartbeatRequest, 1, body))
    assert answer.error_code == 0, answer.error_message
    visible = {entry.topic_id for entry in [rig.broker.catalog.find("logs-a")] if entry is not None}
    assert {each.topic_id for each in answer.assignment.topic_partitions} == visible
    create(rig, "logs-c")
    for shard in rig.broker.groups.shards:
        shard.topics_changed()
    rig.clock.advance(1000)
    beat = body | {
        "member_epoch": answer.member_epoch,
        "topic_partitions": None,
        "subscribed_topic_regex": None,
    }
    again = alice.ask(consumer_group_heartbeat.API, made(ConsumerGroupHeartbeatRequest, 1, beat))
    assert (again.error_code, again.assignment) == (0, None)
    rig.store.close()
