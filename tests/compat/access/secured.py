"""A broker with logins and rules of access, Moldau's or Apache Kafka's, by the same settings."""

from collections.abc import Iterable
from pathlib import Path

from compat.access.login import PASSWORD, UserWire
from compat.apache_kafka import ApacheKafka
from compat.moldau_broker import MoldauBroker
from compat.server_process import wait_until
from e2e.wire import HungUp
from moldau.protocol.messages.security.create_acls import AclCreation, CreateAclsRequest
from moldau.protocol.messages.security.describe_acls import DescribeAclsRequest
from moldau.protocol.messages.topics.metadata import MetadataRequest
from moldau.security.access.model import Rule

ADMIN = "admin"
ANY = 1


def settings(users: Iterable[str]) -> dict[str, str]:
    """The listener PLAINTEXT asks for a login here. Kafka's controller, on a listener of its own, does not."""
    logins = " ".join(f'user_{user}="{PASSWORD}"' for user in (ADMIN, *users))
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    return {
        "listener.security.protocol.map": "PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "listener.name.plaintext.plain.sasl.jaas.config": (
            f'{module} required username="{ADMIN}" password="{PASSWORD}" {logins};'
        ),
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": f"User:{ADMIN};User:ANONYMOUS",
        "delegation.token.secret.key": PASSWORD,
        "group.initial.rebalance.delay.ms": "0",
        "offsets.topic.num.partitions": "1",
        "transaction.state.log.num.partitions": "1",
    }


class SecuredMoldau(MoldauBroker):
    def __init__(self, folder: Path, users: Iterable[str]) -> None:
        super().__init__(folder, settings(users))


class SecuredKafka(ApacheKafka):
    def __init__(self, folder: Path, users: Iterable[str]) -> None:
        super().__init__(folder, settings(users))

    def is_ready(self) -> bool:
        try:
            with UserWire(self.port, ADMIN) as admin:
                return bool(admin.call(MetadataRequest(topics=[]), 9).brokers)
        except (OSError, HungUp):
            return False


def lay_down(admin: UserWire, rules: list[Rule]) -> None:
    """Returns when the broker decides by them."""
    creations = [
        AclCreation(
            resource_type=rule.kind,
            resource_name=rule.name,
            resource_pattern_type=rule.pattern,
            principal=rule.principal,
            host=rule.host,
            operation=rule.operation,
            permission_type=rule.permission,
        )
        for rule in rules
    ]
    results = admin.call(CreateAclsRequest(creations=creations), 3).results
    assert not [each for each in results if each.error_code], results
    every = DescribeAclsRequest(
        resource_type_filter=ANY,
        resource_name_filter=None,
        pattern_type_filter=ANY,
        principal_filter=None,
        host_filter=None,
        operation=ANY,
        permission_type=ANY,
    )

    def are_there() -> bool:
        found = admin.call(every, 3).resources
        return sum(len(each.acls) for each in found) == len(set(rules))

    wait_until(are_there, "all rules are in force")
