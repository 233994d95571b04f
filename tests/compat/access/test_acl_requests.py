"""CreateAcls, DescribeAcls and DeleteAcls, and `kafka-acls`, on Moldau and Apache Kafka: the same answers."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from itertools import product
from typing import Any, NamedTuple

import pytest

from compat.apache_kafka import ApacheKafka
from compat.java_client import JavaDriver
from compat.moldau_broker import MoldauBroker
from compat.server_process import ServerProcess
from kafka_jars import KafkaJarsUnavailable
from moldau.cli.client.wire import Wire
from moldau.cli.client.wire_security import Security
from moldau.protocol.messages.security.create_acls import (
    AclCreation,
    CreateAclsRequest,
    CreateAclsResponse,
)
from moldau.protocol.messages.security.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from moldau.protocol.messages.security.describe_acls import DescribeAclsRequest, DescribeAclsResponse

pytestmark = pytest.mark.java

SETTINGS = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
TOOL = "org.apache.kafka.tools.AclCommand"
PATIENCE_S = 60
ANY, TOPIC, GROUP, CLUSTER, USER = 1, 2, 3, 4, 7
MATCH, LITERAL, PREFIXED = 2, 3, 4
READ, DENY, ALLOW = 3, 2, 3
NEW_RULES_MAX = 10_000


class Side(NamedTuple):
    server: ServerProcess
    wire: Wire

    def create(self, creations: Sequence[AclCreation]) -> list[tuple[int, str | None]]:
        answer = self.wire.ask(
            self.wire.any_broker(), CreateAclsRequest(creations=creations), CreateAclsResponse, "create"
        )
        return [(each.error_code, each.error_message) for each in answer.results]

    def describe(self, **changes: Any) -> tuple[int, str | None, list[tuple[object, ...]]]:
        request = DescribeAclsRequest(**matching(**changes))
        answer = self.wire.ask(self.wire.any_broker(), request, DescribeAclsResponse, "describe")
        rules = [
            (*(value for key, value in asdict(resource).items() if key != "acls"), *asdict(each).values())
            for resource in answer.resources
            for each in resource.acls
        ]
        return answer.error_code, answer.error_message, sorted(rules, key=repr)

    def delete(self, *filters: dict[str, Any]) -> list[tuple[int, str | None, list[tuple[object, ...]]]]:
        request = DeleteAclsRequest(filters=[DeleteAclsFilter(**each) for each in filters])
        answer = self.wire.ask(self.wire.any_broker(), request, DeleteAclsResponse, "delete")
        return [
            (
                each.error_code,
                each.error_message,
                sorted((tuple(asdict(rule).values()) for rule in each.matching_acls), key=repr),
            )
            for each in answer.filter_results
        ]


Both = tuple[Side, Side]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    try:
        kafka = ApacheKafka(tmp_path_factory.mktemp("kafka"), SETTINGS)
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))
    moldau = MoldauBroker(tmp_path_factory.mktemp("moldau"), SETTINGS)
    with kafka, moldau:
        ours, theirs = (
            Side(each, Wire(each.bootstrap, Security({}), PATIENCE_S)) for each in (moldau, kafka)
        )
        yield ours, theirs
        ours.wire.close()
        theirs.wire.close()


def creation(**changes: Any) -> AclCreation:
    values: dict[str, Any] = {
        "resource_type": TOPIC,
        "resource_name": "orders",
        "resource_pattern_type": LITERAL,
        "principal": "User:alice",
        "host": "*",
        "operation": READ,
        "permission_type": ALLOW,
    }
    return AclCreation(**{**values, **changes})


def matching(**changes: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "resource_type_filter": ANY,
        "resource_name_filter": None,
        "pattern_type_filter": ANY,
        "principal_filter": None,
        "host_filter": None,
        "operation": ANY,
        "permission_type": ANY,
    }
    return {**values, **changes}


def same(both: Both, ask: Callable[[Side], object]) -> None:
    ours, theirs = both
    our, their = ask(ours), ask(theirs)
    assert without_own_words(our, their) == their


def without_own_words(our: object, their: object) -> object:
    """Where Kafka gives a code without a message, ours may have one."""
    if their is None and isinstance(our, str):
        return None
    if isinstance(our, list | tuple) and isinstance(their, list | tuple) and len(our) == len(their):
        return type(our)(without_own_words(*each) for each in zip(our, their, strict=True))
    return our


def settled(both: Both) -> None:
    """Kafka's broker takes over what its controller decided a moment later."""
    ours, theirs = both
    deadline = time.monotonic() + PATIENCE_S
    while (wanted := ours.describe()) != (found := theirs.describe()):
        assert time.monotonic() < deadline, (wanted, found)
        time.sleep(0.02)


def test_every_kind_operation_pattern_and_permission(both: Both) -> None:
    """Every code there is, and one that nobody knows."""
    words = list(product((*range(2, 16), 99), (DENY, ALLOW, 99)))
    for kind, pattern in product((1, 2, 3, 4, 5, 6, 7, 99), (1, 2, 3, 4, 99)):
        creations = [
            creation(
                resource_type=kind,
                resource_name="kafka-cluster",
                resource_pattern_type=pattern,
                operation=operation,
                permission_type=permission,
            )
            for operation, permission in words
        ]
        same(both, lambda side, creations=creations: side.create(creations))  # type: ignore[misc]
    for changes in ({"operation": ANY}, {"permission_type": ANY}):
        same(both, lambda side, changes=changes: side.create([creation(), creation(**changes)]))  # type: ignore[misc]
    settled(both)
    same(both, lambda side: side.delete(matching()))
    settled(both)


@pytest.mark.parametrize(
    "changes",
    [
        {"resource_name": ""},
        {"resource_type": CLUSTER, "resource_name": "other"},
        {"resource_type": CLUSTER, "resource_name": ""},
        {"principal": "alice"},
        {"principal": ""},
        {"principal": "User:"},
        {"principal": "Group:a:b"},
        {"host": ""},
        {"host": "not an address"},
        {"resource_name": "a topic that / cannot \n exist"},
        {"resource_type": USER, "resource_name": "User:alice", "operation": 13},
        {"resource_type": GROUP, "operation": 4},
    ],
)
def test_odd_rules(both: Both, changes: dict[str, Any]) -> None:
    same(both, lambda side: side.create([creation(**changes), creation(), creation(**changes)]))
    settled(both)
    same(both, lambda side: side.delete(matching()))
    settled(both)


def test_more_rules_than_a_request_may_add(both: Both) -> None:
    creations = [creation(principal=f"User:{number}") for number in range(NEW_RULES_MAX + 1)]
    same(both, lambda side: side.create(creations))
    same(both, lambda side: side.describe())


def test_filters(both: Both) -> None:
    names = [("orders", LITERAL), ("ord", PREFIXED), ("*", LITERAL), ("orders-eu", LITERAL), ("x", PREFIXED)]
    creations = [
        creation(resource_name=name, resource_pattern_type=pattern, resource_type=kind, principal=principal)
        for name, pattern in names
        for kind in (TOPIC, GROUP)
        for principal in ("User:alice", "User:*")
    ]
    same(both, lambda side: side.create(creations))
    settled(both)
    kinds, patterns = (ANY, TOPIC, 99), (ANY, MATCH, LITERAL, PREFIXED, 99)
    for kind, pattern, name in product(kinds, patterns, (None, "orders", "ord", "*", "y", "")):
        same(
            both,
            lambda side, asked=(kind, pattern, name): side.describe(  # type: ignore[misc]
                resource_type_filter=asked[0], pattern_type_filter=asked[1], resource_name_filter=asked[2]
            ),
        )
    for changes in (
        {"principal_filter": "User:*"},
        {"principal_filter": ""},
        {"host_filter": "*"},
        {"host_filter": "10.0.0.1"},
        {"operation": READ},
        {"operation": 2},
        {"operation": 99},
        {"permission_type": DENY},
        {"permission_type": 99},
    ):
        same(both, lambda side, changes=changes: side.describe(**changes))  # type: ignore[misc]
    same(
        both,
        lambda side: side.delete(
            matching(resource_name_filter="orders", pattern_type_filter=MATCH, principal_filter="User:*"),
            matching(resource_name_filter="ord"),
            matching(operation=99),
            matching(pattern_type_filter=99),
            matching(resource_name_filter="nothing"),
        ),
    )
    settled(both)
    same(both, lambda side: side.delete(matching()))
    settled(both)


def test_kafkas_own_tool(both: Both, java_driver: JavaDriver) -> None:
    def run(*arguments: str) -> None:
        printed = []
        for side in both:
            given = ["--bootstrap-server", side.server.bootstrap, *arguments]
            done = java_driver.call("tool", main=TOOL, arguments=given, input="")
            assert done["code"] == 0, done
            printed.append(sorted(line for line in done["printed"].splitlines() if line.strip()))
        assert printed[0] == printed[1]
        settled(both)

    run(
        "--add",
        "--allow-principal",
        "User:alice",
        "--producer",
        "--topic",
        "orders",
        "--transactional-id",
        "tx",
    )
    run("--add", "--allow-principal", "User:bob", "--consumer", "--topic", "orders", "--group", "shop")
    run("--add", "--deny-principal", "User:eve", "--operation", "All", "--topic", "pay",
        "--resource-pattern-type", "prefixed")  # fmt: skip
    run("--list")
    run("--list", "--topic", "payroll", "--resource-pattern-type", "match")
    run("--remove", "--allow-principal", "User:alice", "--producer", "--topic", "orders", "--force")
    run("--remove", "--topic", "orders", "--force")
    run("--list")
    for side in both:
        side.delete(matching())
    settled(both)
