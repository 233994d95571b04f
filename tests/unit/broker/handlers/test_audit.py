"""The audit stream: what is told of logins, denials and changes, and where it goes."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from admin_rig import Rig, make_rig

from moldau.broker.audit.audit_stream import EVENTS_MAX, RETRY_MS, WRITE_INTERVAL_MS, AuditStream
from moldau.broker.audit.request_facts import AUDITED, HIDDEN, ITEMS_MAX, details_of, errors_in
from moldau.broker.handlers import HANDLERS
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.protocol.messages.configs.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from moldau.protocol.messages.security.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from moldau.protocol.messages.security.create_acls import AclCreation, CreateAclsRequest
from moldau.protocol.messages.topics.create_topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from moldau.protocol.records.record import iter_records
from moldau.security.access.decision import Decision
from moldau.security.access.model import Caller, Operation, ResourceKind
from moldau.security.audit.audit_events import AUDIT_TOPIC
from moldau.storage.segments.batch_scan import iter_whole_batches
from moldau.testing.simulation.sim_clock import SimClock

AUDITED_BROKER = "authorizer.class.name=acl\nmoldau.audit.enable=true\n"
DENIED = Decision(False, None, "DefaultDeny")
ALICE = Caller("User:alice", "10.0.0.1", "Fetch")


def told(rig: Rig) -> list[dict[str, Any]]:
    """The events in the topic."""
    partition = rig.broker.partitions.find(AUDIT_TOPIC, 0)
    if partition is None or partition.log is None:
        return []
    return [
        json.loads(record.value or b"")
        for segment in partition.log.segments.all
        for _, batch in iter_whole_batches(segment.reader_file(), 0, segment.size)
        for record in iter_records(batch, decompressed_bytes_max=1 << 20)
    ]


def stream(rig: Rig) -> AuditStream:
    assert rig.broker.audit is not None
    return rig.broker.audit


def topics_request(*names: str) -> CreateTopicsRequest:
    return CreateTopicsRequest(
        topics=[
            CreatableTopic(name=name, num_partitions=1, replication_factor=1, assignments=[], configs=[])
            for name in names
        ]
    )


def test_there_is_none_unless_asked_for() -> None:
    assert make_rig().broker.audit is None


def test_equal_denials_are_one_event_with_a_count() -> None:
    rig = make_rig(AUDITED_BROKER)
    for _ in range(1000):
        assert not rig.broker.authorizer.allows(ALICE, Operation.READ, ResourceKind.TOPIC, "pay")
    rig.broker.authorizer.allows(ALICE, Operation.WRITE, ResourceKind.TOPIC, "pay")
    rig.broker.authorizer.allows(ALICE, Operation.WRITE, ResourceKind.TOPIC, "seen", is_logged=False)
    rig.clock.advance(WRITE_INTERVAL_MS)
    read, write = told(rig)
    assert read["data"] == {
        "principal": "User:alice",
        "host": "10.0.0.1",
        "request": "Fetch",
        "operation": "READ",
        "resource_type": "TOPIC",
        "resource_name": "pay",
        "rule": "DefaultDeny",
        "count": 1000,
    }
    assert (read["specversion"], read["type"], read["subject"]) == ("1.0", "moldau.audit.denial", "topic:pay")
    assert read["source"] == "urn:kafka:cluster:broker:1" and read["time"].startswith("2023-11-14T")
    assert write["data"]["operation"] == "WRITE" and write["id"] != read["id"]


def test_logins_are_told_with_the_reason_of_a_failure() -> None:
    rig = make_rig(AUDITED_BROKER)
    rig.client.principal = "User:bob"
    stream(rig).logged_in(rig.client, "PLAIN")
    stream(rig).login_failed(rig.client, "PLAIN", "wrong password")
    rig.clock.advance(WRITE_INTERVAL_MS)
    good, bad = (event["data"] for event in told(rig))
    assert good["succeeded"] and good["principal"] == "User:bob" and good["mechanism"] == "PLAIN"
    assert not bad["succeeded"] and bad["principal"] is None and bad["reason"] == "wrong password"
    assert "api_key" not in good
    stream(rig).logged_in(rig.client, "PLAIN", "bob+ABCDEFGHIJKLMN27")
    rig.clock.advance(WRITE_INTERVAL_MS)
    (*_, by_key) = told(rig)
    assert by_key["data"]["api_key"] == "bob+ABCDEFGHIJKLMN27"
    for _ in range(1000):
        stream(rig).login_failed(rig.client, "PLAIN", "wrong password")
    rig.clock.advance(WRITE_INTERVAL_MS)
    (*_, repeated) = told(rig)
    assert repeated["data"]["count"] == 1000 and len(told(rig)) == 4


def test_a_change_is_told_with_what_failed_of_it() -> None:
    rig = make_rig(AUDITED_BROKER)
    result = CreatableTopicResult(
        name="b", error_code=ErrorCode.TOPIC_ALREADY_EXISTS, error_message="it exists"
    )
    answer = CreateTopicsResponse(topics=[CreatableTopicResult(name="a", error_message=None), result])
    stream(rig).changed(rig.client, "CreateTopics", topics_request("a", "b"), answer)
    rehearsal = CreateTopicsRequest(topics=[], validate_only=True)
    stream(rig).changed(rig.client, "CreateTopics", rehearsal, CreateTopicsResponse(topics=[]))
    rig.clock.advance(WRITE_INTERVAL_MS)
    (event,) = told(rig)
    assert event["data"]["request"] == event["subject"] == "CreateTopics"
    assert [topic["name"] for topic in event["data"]["details"]["topics"]] == ["a", "b"]
    assert event["data"]["errors"] == [{"name": "b", "error": "TOPIC_ALREADY_EXISTS", "message": "it exists"}]


def test_secrets_are_not_told() -> None:
    configs = {
        "ssl.key.password": "hush",
        "listener.name.a.plain.sasl.jaas.config": "hush",
        "unknown": "hush",
        "retention.ms": "5",
    }
    resource = AlterConfigsResource(
        resource_type=2,
        resource_name="t",
        configs=[
            AlterableConfig(name=name, config_operation=0, value=value) for name, value in configs.items()
        ],
    )
    shown = details_of("IncrementalAlterConfigs", IncrementalAlterConfigsRequest(resources=[resource]))
    assert isinstance(shown, dict)
    values = {each["name"]: each["value"] for each in shown["resources"][0]["configs"]}
    assert values == {**dict.fromkeys(configs, HIDDEN), "retention.ms": "5"}
    upsertion = ScramCredentialUpsertion(
        name="alice", mechanism=1, iterations=4096, salt=b"hush", salted_password=b"hush"
    )
    request = AlterUserScramCredentialsRequest(deletions=[], upsertions=[upsertion])
    text = json.dumps(details_of("AlterUserScramCredentials", request))
    assert "alice" in text and "hush" not in text and "aHVzaA" not in text


def test_rules_are_told_in_words() -> None:
    creation = AclCreation(
        resource_type=2, resource_name="t", principal="User:a", host="*", operation=3, permission_type=3
    )
    shown = details_of("CreateAcls", CreateAclsRequest(creations=[creation]))
    assert isinstance(shown, dict)
    assert shown["creations"][0]["operation"] == "READ"
    assert shown["creations"][0]["resource_pattern_type"] == "LITERAL"


def test_large_requests_are_cut_short() -> None:
    shown = details_of("CreateTopics", topics_request(*(f"t{number}" for number in range(1000))))
    assert isinstance(shown, dict)
    assert len(shown["topics"]) == ITEMS_MAX + 1 and shown["topics"][-1] == "and 900 more"
    failed = [CreatableTopicResult(name="a", error_code=99, error_message=None)] * 1000
    assert len(errors_in(CreateTopicsResponse(topics=failed))) == ITEMS_MAX
    assert errors_in(CreateTopicsResponse(topics=failed))[0]["error"] == ErrorCode(99).name


class GatedWriter:
    """Refuses until it is opened, as a topic without a leader does."""

    def __init__(self) -> None:
        self.is_open = False
        self.written: list[dict[str, Any]] = []

    async def write(self, events: Sequence[tuple[bytes, bytes]], now_ms: int) -> None:
        if not self.is_open:
            raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER, "not yet")
        self.written += [json.loads(value) for _, value in events]


def test_while_nothing_can_be_written_events_wait_and_the_excess_is_counted() -> None:
    clock, writer, client = SimClock(), GatedWriter(), make_rig().client
    audit = AuditStream(writer, clock, clock, "urn:test")
    for number in range(EVENTS_MAX + 7):
        audit.denied(ALICE, Operation.READ, ResourceKind.TOPIC, f"t{number}", DENIED)
    clock.advance(WRITE_INTERVAL_MS)
    for number in range(5):
        audit.login_failed(client, "PLAIN", f"reason {number}")
    assert writer.written == []
    writer.is_open = True
    clock.advance(RETRY_MS)
    losses = [event["data"]["count"] for event in writer.written if event["type"] == "moldau.audit.loss"]
    assert sum(losses) == 12 and len(writer.written) == EVENTS_MAX + len(losses)


def test_what_is_left_is_written_at_the_end() -> None:
    clock, writer = SimClock(), GatedWriter()
    audit = AuditStream(writer, clock, clock, "urn:test")
    audit.denied(ALICE, Operation.READ, ResourceKind.TOPIC, "t", DENIED)
    writer.is_open = True
    asyncio.run(audit.close())
    clock.advance(RETRY_MS)
    assert len(writer.written) == 1


def test_every_audited_request_exists() -> None:
    served = {api.name for api in HANDLERS}
    missing = AUDITED - served
    assert missing <= {"CreateDelegationToken", "RenewDelegationToken", "ExpireDelegationToken"}
