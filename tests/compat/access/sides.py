"""Both brokers with the same topics, groups and users: what the requests of `access_cases` are about."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from access_cases import CASES
from access_requests import Case, World
from compat.access.grants import grants
from compat.access.login import UserWire
from compat.access.secured import ADMIN, SecuredKafka, SecuredMoldau, lay_down
from compat.server_process import ServerProcess, wait_until
from moldau.protocol.messages.groups.find_coordinator import FindCoordinatorRequest
from moldau.protocol.messages.groups.offset_commit import OffsetCommitRequest
from moldau.protocol.messages.topics.create_topics import CreatableTopic, CreateTopicsRequest
from moldau.protocol.messages.topics.metadata import MetadataRequest, MetadataRequestTopic
from moldau.protocol.messages.transactions.init_producer_id import InitProducerIdRequest

GRANTS = grants()
ALL_VERSIONS = os.environ.get("MOLDAU_ACCESS_VERSIONS") == "all"
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


@contextmanager
def both_sides(folder: Path) -> Iterator[tuple[Side, Side]]:
    """Ours and theirs. KafkaJarsUnavailable says why there is no Kafka."""
    kafka, moldau = SecuredKafka(folder / "kafka", GRANTS), SecuredMoldau(folder / "moldau", GRANTS)
    with kafka, moldau, ExitStack() as connections:
        ours, theirs = prepared(moldau), prepared(kafka)
        for side in (ours, theirs):
            for wire in (side.admin, *side.users.values()):
                connections.callback(wire.close)
        yield ours, theirs
