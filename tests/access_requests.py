"""Requests of each API that asks for access, written as plain data, for one set of resources.

A field that a version does not have is left out.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, NamedTuple

from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages import API_NAMES_BY_FOLDER, request_class
from moldau.protocol.records.builder import build_batch
from moldau.protocol.records.record import Record
from moldau.protocol.spec import Request, fields_of
from moldau.security.access.model import Operation, ResourceKind

KEYS = {name: key for names in API_NAMES_BY_FOLDER.values() for key, name in names.items()}
TOPIC, GROUP, CLUSTER, TRANSACTIONAL_ID = (
    ResourceKind.TOPIC, ResourceKind.GROUP, ResourceKind.CLUSTER, ResourceKind.TRANSACTIONAL_ID,
)  # fmt: skip
CODES = {
    TOPIC: ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    GROUP: ErrorCode.GROUP_AUTHORIZATION_FAILED,
    CLUSTER: ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    TRANSACTIONAL_ID: ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
}
Body = dict[str, Any]
Need = tuple[Operation, ResourceKind]


class World(NamedTuple):
    """What the requests are about."""

    topic: str
    topic_id: bytes
    doomed: str
    """A topic to delete."""
    doomed_id: bytes
    fresh: str
    """A name that nothing has yet."""
    group: str
    transactional_id: str
    log_dir: str
    broker_id: int


def record_batch(*, is_transactional: bool = False) -> bytes:
    records = [Record(0, 1_700_000_000_000, b"k", b"v", ())]
    if not is_transactional:
        return bytes(build_batch(records))
    return bytes(
        build_batch(records, producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True)
    )


@dataclass(frozen=True)
class Case:
    api: str
    body: Callable[[World, int], Body]
    needs: tuple[Need, ...] = ()
    """All of them. Where something else does instead the case has a label of its own."""
    label: str = ""
    versions: tuple[int, int] = (0, 99)

    @property
    def name(self) -> str:
        return f"{self.api} {self.label}".rstrip()

    @property
    def request(self) -> type[Request]:
        found = request_class(KEYS[self.api])
        assert found is not None
        return found

    @property
    def version_range(self) -> range:
        spoken = self.request.VERSIONS
        return range(max(spoken.low, self.versions[0]), min(spoken.high, self.versions[1]) + 1)

    def made(self, world: World, version: int) -> Any:
        return made(self.request, version, self.body(world, version))


def made(declared: type[Any], version: int, body: Body) -> Any:
    """The structure with these fields, as far as the version has them."""
    values = {}
    for field in fields_of(declared):
        if field.name not in body or version not in field.versions:
            continue
        value = body[field.name]
        if isinstance(field.of, type) and value is not None:
            of = field.of
            value = (
                [made(of, version, each) for each in value] if field.is_array else made(of, version, value)
            )
        values[field.name] = value
    return declared(**values)


def partitions_body(world: World, **partition: Any) -> Body:
    return {"name": world.topic, "topic": world.topic, "topic_id": world.topic_id, "partitions": [partition]}


def fetch_body(world: World, replica_id: int) -> Body:
    wanted = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1000}
    return {
        "replica_id": replica_id,
        "replica_state": {"replica_id": replica_id, "replica_epoch": -1},
        "max_wait_ms": 0,
        "min_bytes": 0,
        "topics": [partitions_body(world, **wanted)],
    }


def produce_body(world: World, transactional_id: str | None) -> Body:
    records = record_batch(is_transactional=transactional_id is not None)
    data = {"index": 0, "records": records}
    topic = {"name": world.topic, "topic_id": world.topic_id, "partition_data": [data]}
    return {"transactional_id": transactional_id, "acks": 1, "timeout_ms": 10_000, "topic_data": [topic]}


def config_body(kind: int, name: str, key: str, value: str) -> Body:
    config = {"name": key, "config_operation": 0, "value": value}
    resource = {"resource_type": kind, "resource_name": name, "configuration_keys": None, "configs": [config]}
    return {"resources": [resource], "validate_only": True}


def metadata_body(
    world: World, *, by_id: bool = False, name: str | None = None, creates: bool = False
) -> Body:
    topic = {"topic_id": world.topic_id, "name": None} if by_id else {"name": name or world.topic}
    return {
        "topics": [topic],
        "allow_auto_topic_creation": creates,
        "include_cluster_authorized_operations": True,
        "include_topic_authorized_operations": True,
    }


def offset_commit_body(world: World, member: Body) -> Body:
    partition = {"partition_index": 0, "committed_offset": 0, "committed_metadata": ""}
    return {"group_id": world.group, "topics": [partitions_body(world, **partition)], **member}


def offset_fetch_body(world: World, version: int) -> Body:
    topics = [{"name": world.topic, "topic_id": world.topic_id, "partition_indexes": [0]}]
    return {
        "group_id": world.group, "topics": topics, "groups": [{"group_id": world.group, "topics": topics}],
    }  # fmt: skip


def offset_fetch_all_body(world: World, version: int) -> Body:
    return {"group_id": world.group, "topics": None, "groups": [{"group_id": world.group, "topics": None}]}


def create_topic_body(world: World) -> Body:
    topic = {
        "name": world.fresh, "num_partitions": 1, "replication_factor": 1, "assignments": [], "configs": [],
    }  # fmt: skip
    return {"topics": [topic], "validate_only": True}


def coordinator_body(key: str, kind: int) -> Body:
    return {"key": key, "key_type": kind, "coordinator_keys": [key]}


def txn_body(world: World, **more: Any) -> Body:
    return {"transactional_id": world.transactional_id, "producer_id": 7, "producer_epoch": 0, **more}


def add_partitions_body(world: World) -> Body:
    topics = [{"name": world.topic, "partitions": [0]}]
    return {
        "v3_and_below_transactional_id": world.transactional_id,
        "v3_and_below_producer_id": 7,
        "v3_and_below_producer_epoch": 0,
        "v3_and_below_topics": topics,
        "transactions": [txn_body(world, verify_only=True, topics=topics)],
    }


def txn_offsets_body(world: World) -> Body:
    partition = {"partition_index": 0, "committed_offset": 0, "committed_metadata": ""}
    return txn_body(world, group_id=world.group, topics=[partitions_body(world, **partition)])


def markers_body(world: World) -> Body:
    marker = {
        "producer_id": 7, "producer_epoch": 0, "transaction_result": False, "coordinator_epoch": 0,
        "topics": [{"name": world.fresh, "partition_indexes": [0]}],
    }  # fmt: skip
    return {"markers": [marker]}


def delete_topic_body(world: World, *, by_id: bool = False) -> Body:
    state = (
        {"name": None, "topic_id": world.doomed_id}
        if by_id
        else {"name": world.doomed, "topic_id": bytes(16)}
    )
    return {"topics": [state], "topic_names": [world.doomed], "timeout_ms": 10_000}


def member_body(world: World, **more: Any) -> Body:
    members = [{"member_id": "nobody"}]
    return {"group_id": world.group, "generation_id": 1, "member_id": "nobody", "members": members, **more}


def join_body(world: World) -> Body:
    protocols = [{"name": "range", "metadata": b""}]
    return member_body(world, session_timeout_ms=10_000, protocol_type="consumer", protocols=protocols)


def consumer_body(world: World) -> Body:
    return {
        "group_id": world.group, "member_id": "nobody", "member_epoch": 5, "rebalance_timeout_ms": 10_000,
        "subscribed_topic_names": [world.topic], "topic_partitions": [],
    }  # fmt: skip


def acl_filter_body(principal: str | None = None) -> Body:
    return {
        "resource_type_filter": 1, "resource_name_filter": None, "pattern_type_filter": 1,
        "principal_filter": principal, "host_filter": None, "operation": 1, "permission_type": 1,
    }  # fmt: skip


def create_acl_body(world: World, version: int) -> Body:
    creation = {
        "resource_type": 2, "resource_name": world.fresh, "resource_pattern_type": 3, "principal": "User:ghost",
        "host": "*", "operation": 3, "permission_type": 3,
    }  # fmt: skip
    return {"creations": [creation]}


def quota_body(world: World, version: int) -> Body:
    entity = [{"entity_type": "client-id", "entity_name": "ghost"}]
    ops = [{"key": "producer_byte_rate", "value": 1024.0, "remove": False}]
    return {"entries": [{"entity": entity, "ops": ops}], "validate_only": True}


def token_body(world: World, version: int) -> Body:
    owner = {"owner_principal_type": "User", "owner_principal_name": "ghost"}
    return {**owner, "renewers": [], "max_lifetime_ms": -1}


def token_owner_body(world: World, version: int) -> Body:
    return {"owners": [{"principal_type": "User", "principal_name": "ghost"}]}


def codes_in(answer: Any) -> frozenset[ErrorCode]:
    """All error codes of an answer, whatever they are about."""
    return frozenset(ErrorCode(code) for code in _codes(answer))


def _codes(part: Any) -> Iterator[int]:
    if isinstance(part, list | tuple):
        for each in part:
            yield from _codes(each)
    elif is_dataclass(part):
        for field in fields(part):
            value = getattr(part, field.name)
            if field.name in ("error_code", "partition_error_code"):
                yield value
            else:
                yield from _codes(value)
