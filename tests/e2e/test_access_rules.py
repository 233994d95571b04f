"""Rules in force: on every broker of a cluster, past a kill, and until they are removed."""

import time
from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import KafkaError, KafkaException, Message, Producer
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)

from moldau.testing import LocalCluster
from moldau.testing.cluster_security import Security

WAIT_S = 60
SECURITY = Security(
    protocol="SASL_PLAINTEXT",
    users={"admin": "admin-secret", "bob": "bob-secret"},
    mechanism="PLAIN",
    acls=True,
)
WRITES = AclBinding(
    ResourceType.TOPIC,
    "ord",
    ResourcePatternType.PREFIXED,
    "User:bob",
    "*",
    AclOperation.WRITE,
    AclPermissionType.ALLOW,
)
ALL_OF_BOB = AclBindingFilter(
    ResourceType.ANY, None, ResourcePatternType.ANY, "User:bob", None, AclOperation.ANY, AclPermissionType.ANY
)


@pytest.fixture(params=[1, 3])
def cluster(request: pytest.FixtureRequest) -> Iterator[LocalCluster]:
    with LocalCluster(brokers=request.param, security=SECURITY) as running:
        yield running


def outcome(cluster: LocalCluster, partition: int) -> int:
    """The code with which a record of bob's is refused; 0 if it is written."""
    told: list[KafkaError | None] = []

    def delivered(error: KafkaError | None, _: Message) -> None:
        told.append(error)

    settings = {**cluster.client_settings("bob"), "message.timeout.ms": WAIT_S * 1000}
    bob = Producer(settings)
    bob.produce("orders", b"x", partition=partition, on_delivery=delivered)
    bob.flush(WAIT_S)
    (error,) = told
    return 0 if error is None else error.code()


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, "it did not come about"


def are_all(cluster: LocalCluster, partitions: int, code: int) -> Callable[[], bool]:
    return lambda: all(outcome(cluster, partition) == code for partition in range(partitions))


def test_a_rule_is_in_force_everywhere_until_it_is_removed(cluster: LocalCluster) -> None:
    admin = AdminClient(cluster.client_settings("admin"))
    partitions = 3
    (created,) = admin.create_topics([NewTopic("orders", partitions, 1)]).values()
    created.result(WAIT_S)
    bob = AdminClient(cluster.client_settings("bob"))
    with pytest.raises(KafkaException) as refused:
        bob.create_acls([WRITES])[WRITES].result(WAIT_S)
    assert refused.value.args[0].code() == KafkaError.CLUSTER_AUTHORIZATION_FAILED
    denied = KafkaError.TOPIC_AUTHORIZATION_FAILED
    eventually(are_all(cluster, partitions, denied))
    (added,) = admin.create_acls([WRITES]).values()
    added.result(WAIT_S)
    eventually(are_all(cluster, partitions, 0))
    cluster.kill()
    cluster.restart()
    eventually(are_all(cluster, partitions, 0))
    (removed,) = admin.delete_acls([ALL_OF_BOB]).values()
    assert removed.result(WAIT_S) == [WRITES]
    eventually(are_all(cluster, partitions, denied))
