"""The admin interfaces of foreign clients for access rules."""

from collections.abc import Iterator

import pytest
from confluent_kafka import admin
from kafka.admin import (
    ACL,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    KafkaAdminClient,
    ResourcePatternFilter,
    ResourceType,
)
from kafka.admin import ResourcePattern as KafkaPythonPattern

from compat.moldau_broker import MoldauBroker

SETTINGS = {"authorizer.class.name": "acl", "super.users": "User:ANONYMOUS"}
WAIT_S = 60


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MoldauBroker]:
    with MoldauBroker(tmp_path_factory.mktemp("guarded"), SETTINGS) as server:
        yield server


def test_confluent_kafka(guarded: MoldauBroker) -> None:
    client = admin.AdminClient({"bootstrap.servers": guarded.bootstrap})
    bindings = [
        admin.AclBinding(
            admin.ResourceType.TOPIC,
            name,
            pattern,
            "User:alice",
            "*",
            admin.AclOperation.READ,
            admin.AclPermissionType.ALLOW,
        )
        for name, pattern in (
            ("orders", admin.ResourcePatternType.LITERAL),
            ("team-", admin.ResourcePatternType.PREFIXED),
        )
    ]
    for future in client.create_acls(bindings).values():
        future.result(WAIT_S)
    everything = admin.AclBindingFilter(
        admin.ResourceType.ANY,
        None,
        admin.ResourcePatternType.ANY,
        "User:alice",
        None,
        admin.AclOperation.ANY,
        admin.AclPermissionType.ANY,
    )
    assert set(client.describe_acls(everything).result(WAIT_S)) == set(bindings)
    (deleted,) = client.delete_acls([everything]).values()
    assert set(deleted.result(WAIT_S)) == set(bindings)
    assert not client.describe_acls(everything).result(WAIT_S)


def test_kafka_python(guarded: MoldauBroker) -> None:
    client = KafkaAdminClient(bootstrap_servers=guarded.bootstrap)
    try:
        rule = ACL(
            principal="User:bob",
            host="*",
            operation=ACLOperation.WRITE,
            permission_type=ACLPermissionType.DENY,
            resource_pattern=KafkaPythonPattern(ResourceType.GROUP, "shop"),
        )
        assert client.create_acls([rule])["succeeded"] == [rule]
        of_bob = ACLFilter(
            principal="User:bob",
            host="*",
            operation=ACLOperation.ANY,
            permission_type=ACLPermissionType.ANY,
            resource_pattern=ResourcePatternFilter(ResourceType.ANY, None, ACLResourcePatternType.ANY),
        )
        found, _ = client.describe_acls(of_bob)
        assert found == [rule]
    finally:
        client.close()
