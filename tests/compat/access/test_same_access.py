"""Every API, operation and kind of resource, allowed and denied: the same errors as Apache Kafka's.

The expectation is never written down here: it is what Kafka answers to the same request of a user with the same
rights. By default each request is sent in its highest version; MOLDAU_ACCESS_VERSIONS=all sends all of them.
"""

import os
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

import pytest

from access_cases import CASES, TOKEN_CASES
from access_requests import CODES, Case, World
from compat.access.grants import grants
from compat.access.login import UserWire
from compat.access.secured import ADMIN, SecuredKafka, SecuredMoldau, lay_down
from compat.server_process import ServerProcess, wait_until
from kafka_jars import KafkaJarsUnavailable
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.groups.find_coordinator import FindCoordinatorRequest
from moldau.protocol.messages.groups.offset_commit import OffsetCommitRequest
from moldau.protocol.messages.security.describe_delegation_token import DescribeDelegationTokenRequest
from moldau.protocol.messages.topics.create_topics import CreatableTopic, CreateTopicsRequest
from moldau.protocol.messages.topics.metadata import MetadataRequest, MetadataRequestTopic
from moldau.protocol.messages.transactions.init_producer_id import InitProducerIdRequest

pytestmark = pytest.mark.java

GRANTS = grants()
ALL_VERSIONS = os.environ.get("MOLDAU_ACCESS_VERSIONS") == "all"
NAMES = ("name", "topic", "topic_name", "group_id", "transactional_id", "resource_name", "key")
SHOWN = (*NAMES, "partition_index", "partition_id", "index", "partition", "resource_type")
TOPIC = "seen"
GROUP_KEYS, TRANSACTION_KEYS = 0, 1


class Side(NamedTuple):
    """One of the two brokers, with the connections of all users."""

    server: ServerProcess
    admin: UserWire
    users: dict[str, UserWire]
    topic_ids: dict[str, bytes]

    def world(self, user: str, doomed: str) -> World:
        return World(
            topic=TOPIC,
            topic_id=self.topic_ids[TOPIC],
            doomed=doomed,
            doomed_id=self.topic_ids[doomed],
            fresh=f"fresh-{user}-{doomed}",
            group=f"group-{user}",
            transactional_id=f"txn-{user}",
            log_dir=str(self.server.log_dir),
            broker_id=1,
        )


def versions_of(case: Case) -> list[int]:
    return list(case.version_range) if ALL_VERSIONS else [case.version_range[-1]]


def doomed_topics() -> list[str]:
    """One for each deletion."""
    return [
        doomed_name(case, version, user)
        for case in CASES
        if case.api == "DeleteTopics"
        for version in versions_of(case)
        for user in GRANTS
    ]


def doomed_name(case: Case, version: int, user: str) -> str:
    """The topic to delete, for requests that delete one."""
    if case.api != "DeleteTopics":
        return TOPIC
    return f"{case.name}.{version}.{user}".replace(" ", "-")


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Side, Side]]:
    try:
        kafka = SecuredKafka(tmp_path_factory.mktemp("kafka"), GRANTS)
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))
    moldau = SecuredMoldau(tmp_path_factory.mktemp("moldau"), GRANTS)
    with kafka, moldau:
        ours, theirs = prepared(moldau), prepared(kafka)
        yield ours, theirs
        for side in (ours, theirs):
            for wire in (side.admin, *side.users.values()):
                wire.close()


def prepared(server: ServerProcess) -> Side:
    admin = UserWire(server.port, ADMIN)
    lay_down(admin, [rule for rules in GRANTS.values() for rule in rules])
    topics = [TOPIC, *doomed_topics()]
    for start in range(0, len(topics), 100):
        create(admin, topics[start : start + 100])
    ids: dict[str, bytes] = {}

    def are_known() -> bool:
        wanted = [MetadataRequestTopic(name=name) for name in topics]
        found = admin.call(MetadataRequest(topics=wanted, allow_auto_topic_creation=False), 12).topics
        ids.update({each.name: bytes(each.topic_id) for each in found if not each.error_code})
        return len(ids) == len(topics) and all(
            part.leader_id >= 0 for each in found for part in each.partitions
        )

    wait_until(are_known, "all topics are there")
    for kind in (GROUP_KEYS, TRANSACTION_KEYS):
        wait_until(lambda kind=kind: has_coordinator(admin, kind), "there are coordinators")  # type: ignore[misc]
    wait_until(lambda: has_producer_ids(admin), "there are producer ids")
    side = Side(server, admin, {user: UserWire(server.port, user) for user in GRANTS}, ids)
    commit = next(case for case in CASES if case.request is OffsetCommitRequest)
    for user in GRANTS:
        wait_until(lambda user=user: is_committed(side, commit, user), "the group is there")  # type: ignore[misc]
    return side


def has_coordinator(admin: UserWire, kind: int) -> bool:
    """The first request makes the topic that coordinators need."""
    request = FindCoordinatorRequest(key_type=kind, coordinator_keys=["any"])
    return bool(admin.call(request, 4).coordinators[0].error_code == 0)


def has_producer_ids(admin: UserWire) -> bool:
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=10_000)
    return bool(admin.call(request, 4).error_code == 0)


def create(admin: UserWire, names: list[str]) -> None:
    topics = [
        CreatableTopic(name=name, num_partitions=1, replication_factor=1, assignments=[], configs=[])
        for name in names
    ]
    results = admin.call(CreateTopicsRequest(topics=topics), 7).topics
    assert not [each for each in results if each.error_code], results


def is_committed(side: Side, commit: Case, user: str) -> bool:
    answer = side.admin.call(commit.made(side.world(user, TOPIC), 9), 9)
    return all(part.error_code == 0 for topic in answer.topics for part in topic.partitions)


def shown(part: Any, known: frozenset[str]) -> Any:
    """Error codes, authorized operations and names of an answer. Items with a name that is not known are left out:
    topics and groups of other tests, settings, internal topics."""
    if isinstance(part, list | tuple):
        items = [shown(each, known) for each in part if is_known(each, known)]
        return sorted(items, key=repr)
    if not is_dataclass(part):
        return None
    values = {}
    for field in fields(part):
        value = getattr(part, field.name)
        if field.name.endswith(("error_code", "authorized_operations")) or field.name in SHOWN:
            values[field.name] = value
        elif isinstance(value, list | tuple):
            values[field.name] = shown(value, known)
    return values


def is_known(item: Any, known: frozenset[str]) -> bool:
    return all(getattr(item, name, None) in (None, "", *known) for name in NAMES)


def outcome(side: Side, case: Case, version: int, user: str) -> Any:
    world = side.world(user, doomed_name(case, version, user))
    answer = side.users[user].outcome(case.made(world, version), version)
    if isinstance(answer, str):
        return answer
    names = {world.topic, world.doomed, world.fresh, world.group, world.transactional_id, "metrics", "1"}
    return without_known_differences(case, shown(answer, frozenset(names)))


def tokens(side: Side) -> int:
    return len(side.admin.call(DescribeDelegationTokenRequest(owners=None), 3).tokens)


def without_known_differences(case: Case, answer: Any) -> Any:
    """Differences that have nothing to do with access."""
    if case.name == "Fetch as a follower":
        # Kafka leads with replicas or not at all; our broker that stands alone has none.
        return _replaced(answer, ErrorCode.UNKNOWN_LEADER_EPOCH, ErrorCode.NOT_LEADER_OR_FOLLOWER)
    if case.name == "Metadata that creates":
        # We create the topic before we answer.
        for topic in answer["topics"]:
            topic.pop("partitions")
        return _replaced(answer, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NONE)
    return answer


def _replaced(part: Any, code: ErrorCode, by: ErrorCode) -> Any:
    if isinstance(part, list):
        return [_replaced(each, code, by) for each in part]
    if isinstance(part, dict):
        return {
            key: by if key == "error_code" and value == code else _replaced(value, code, by)
            for key, value in part.items()
        }
    return part


@pytest.mark.parametrize("case", (*CASES, *TOKEN_CASES), ids=lambda case: case.name.replace(" ", "-"))
def test_same_answers(case: Case, sides: tuple[Side, Side]) -> None:
    ours, theirs = sides
    if case.api == "DescribeDelegationToken":
        wait_until(lambda: tokens(ours) == tokens(theirs), "Kafka knows the tokens that it has made")
    different = {}
    for version in versions_of(case):
        for user in GRANTS:
            found, wanted = (outcome(side, case, version, user) for side in (ours, theirs))
            if found != wanted:
                different[f"v{version} {user}"] = (found, wanted)
        if case.needs:
            refusal = outcome(theirs, case, version, "nothing")
            assert f"error_code': {int(CODES[case.needs[0][1]])}" in repr(refusal), (
                "the request shows nothing"
            )
    assert different == {}
