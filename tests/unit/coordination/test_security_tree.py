"""Rules of access and settings of users in the tree: their nodes, their changes, and how brokers follow them."""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping

import orjson
import pytest

from cluster_kit import TreeKit, TurnClock
from moldau.coordination.memory import MemoryTree
from moldau.coordination.security.entity_nodes import (
    ADDRESS,
    CLIENT,
    USER,
    Entity,
    EntityPart,
    entity_of,
    entity_path,
    user_entity,
)
from moldau.coordination.security.rule_nodes import resource_of, rules_path
from moldau.coordination.security.security_tree import READS_AT_ONCE, SecurityTree
from moldau.coordination.sqlite import SqliteStore
from moldau.coordination.store import Store, parent_of
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.node.loop_scheduler import LoopScheduler
from moldau.security.access.model import (
    ANYONE,
    WILDCARD,
    Operation,
    Pattern,
    Permission,
    Resource,
    ResourceKind,
    Rule,
    RuleFilter,
)
from moldau.testing.simulation.sim_clock import SimClock

ROUNDS = 5


def rule(
    name: str = "orders",
    principal: str = "User:alice",
    operation: Operation = Operation.READ,
    *,
    kind: ResourceKind = ResourceKind.TOPIC,
    pattern: Pattern = Pattern.LITERAL,
    permission: Permission = Permission.ALLOW,
    host: str = WILDCARD,
) -> Rule:
    return Rule(kind, name, pattern, principal, host, operation, permission)


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    store = MemoryTree().connect() if request.param == "memory" else SqliteStore(":memory:")
    yield store
    store.close()


def test_nodes_are_those_of_kafka_on_zookeeper(store: Store) -> None:
    tree = SecurityTree(store, SimClock())
    asyncio.run(tree.add_rules([rule(), rule("team-", pattern=Pattern.PREFIXED, permission=Permission.DENY)]))
    asyncio.run(
        tree.add_rules([rule(kind=ResourceKind.TRANSACTIONAL_ID, operation=Operation.DESCRIBE_CONFIGS)])
    )
    assert orjson.loads(store.get("/kafka-acl/Topic/orders").data) == {
        "version": 1,
        "acls": [{"principal": "User:alice", "permissionType": "Allow", "operation": "Read", "host": "*"}],
    }
    denied = orjson.loads(store.get("/kafka-acl-extended/prefixed/Topic/team-").data)
    assert denied["acls"][0]["permissionType"] == "Deny"
    described = orjson.loads(store.get("/kafka-acl/TransactionalId/orders").data)
    assert described["acls"][0]["operation"] == "DescribeConfigs"


def test_what_kafka_wrote_is_read(store: Store) -> None:
    for path in ("/kafka-acl", "/kafka-acl/Group", "/config", "/config/users", "/config/users/alice"):
        store.create(path, b'{"version":1,"config":{}}')
    node = b'{"version":1,"acls":[{"principal":"User:bob","permissionType":"Deny","operation":"All","host":"*"}]}'
    store.create("/kafka-acl/Group/*", node)
    store.create("/config/users/alice/clients")
    store.create(
        "/config/users/alice/clients/<default>", b'{"version":1,"config":{"request_percentage":"5"}}'
    )
    tree = SecurityTree(store, SimClock())
    assert list(tree.rules) == [
        rule("*", "User:bob", Operation.ALL, kind=ResourceKind.GROUP, permission=Permission.DENY)
    ]
    assert tree.entities == {
        (EntityPart(USER, "alice"), EntityPart(CLIENT, None)): {"request_percentage": "5"}
    }


@pytest.mark.parametrize("name", ["*", "a/b", "100%", ".", "..", "a%2Fb", "é \n", "​￿", "x" * 300])
def test_every_name_has_a_path_of_its_own(store: Store, name: str) -> None:
    resource = Resource(ResourceKind.GROUP, Pattern.PREFIXED, name)
    assert resource_of(rules_path(resource)) == resource
    tree = SecurityTree(store, SimClock())
    added = rule(name, kind=ResourceKind.GROUP, pattern=Pattern.PREFIXED)
    asyncio.run(tree.add_rules([added]))
    assert SecurityTree(store, SimClock()).rules.find(RuleFilter()) == [added]


def test_rules_are_removed_by_filters_and_told(store: Store) -> None:
    tree = SecurityTree(store, SimClock())
    bob = rule(principal="User:bob", operation=Operation.WRITE)
    everyone = rule(WILDCARD, ANYONE)
    asyncio.run(tree.add_rules([rule(), bob, everyone, rule("invoices")]))
    for_orders = RuleFilter(ResourceKind.TOPIC, "orders", Pattern.MATCH)
    matched = asyncio.run(
        tree.remove_rules([for_orders, RuleFilter(principal="User:bob"), RuleFilter(host="h")])
    )
    assert matched == [sorted([rule(), bob, everyone]), [bob], []]
    assert list(tree.rules) == [rule("invoices")]
    assert not store.exists("/kafka-acl/Topic/orders")
    assert list(SecurityTree(store, SimClock()).rules) == [rule("invoices")]


def test_a_rule_twice_is_one_rule(store: Store) -> None:
    tree = SecurityTree(store, SimClock())
    asyncio.run(tree.add_rules([rule(), rule()]))
    version = store.get("/kafka-acl/Topic/orders").version
    asyncio.run(tree.add_rules([rule()]))
    assert len(tree.rules) == 1
    assert store.get("/kafka-acl/Topic/orders").version == version, "nothing new is not written"


def test_rules_that_do_not_fit_one_node_are_refused_with_what_to_do(store: Store) -> None:
    tree = SecurityTree(store, SimClock())
    with pytest.raises(ApiError, match="use a wildcard or a prefix"):
        asyncio.run(tree.add_rules(rule(principal=f"User:{number:0200}") for number in range(4000)))
    assert len(tree.rules) == 0


def test_settings_of_a_user_are_changed_and_go_when_there_are_none(store: Store) -> None:
    tree = SecurityTree(store, SimClock())
    told: list[frozenset[Entity]] = []
    tree.subscribe(told.append)
    alice = user_entity("alice")
    client = (*alice, EntityPart(CLIENT, "app/1"))
    asyncio.run(tree.write_entity(alice, lambda texts: {**texts, "producer_byte_rate": "1"}))
    asyncio.run(tree.write_entity(client, lambda texts: {**texts, "consumer_byte_rate": "2"}))
    asyncio.run(tree.write_entity(alice, lambda texts: {**texts, "SCRAM-SHA-256": "salt=..."}))
    assert tree.user_configs("alice") == {"producer_byte_rate": "1", "SCRAM-SHA-256": "salt=..."}
    assert store.exists("/config/users/alice/clients/app%2F1")
    assert told == [frozenset({alice}), frozenset({client}), frozenset({alice})]
    asyncio.run(tree.write_entity(alice, lambda texts: {}))
    assert tree.user_configs("alice") == {} and set(tree.entities) == {client}
    asyncio.run(tree.write_entity(client, lambda texts: {}))
    assert SecurityTree(store, SimClock()).entities == {}


def test_what_the_writer_refuses_changes_nothing(store: Store) -> None:
    tree = SecurityTree(store, SimClock())

    def refuse(texts: object) -> dict[str, str]:
        raise ApiError(ErrorCode.INVALID_REQUEST, "no")

    with pytest.raises(ApiError, match="no"):
        asyncio.run(tree.write_entity(user_entity("alice"), refuse))
    assert tree.entities == {}


@pytest.mark.parametrize(
    "entity",
    [
        user_entity("~a b+*"),
        (EntityPart(USER, None),),
        (EntityPart(USER, None), EntityPart(CLIENT, "<default>")),
        (EntityPart(CLIENT, "x/y"),),
        (EntityPart(ADDRESS, "::1"),),
    ],
)
def test_every_entity_has_a_path_of_its_own(entity: Entity) -> None:
    assert entity_of(entity_path(entity)) == entity


def test_other_brokers_follow() -> None:
    kit = TreeKit()
    clock = TurnClock()
    writer = SecurityTree(kit.tree.connect(), SimClock())
    session = kit.tree.connect()
    follower = SecurityTree(session, clock)
    asyncio.run(writer.add_rules([rule()]))
    follower.watch(clock.call_soon)
    clock.advance(1000)
    assert list(follower.rules) == [rule()], "what came between the first reading and the watch is not missed"
    asyncio.run(writer.remove_rules([RuleFilter()]))
    asyncio.run(writer.write_entity(user_entity("alice"), lambda texts: {"a": "1"}))
    clock.advance(1000)
    assert len(follower.rules) == 0 and follower.user_configs("alice") == {"a": "1"}
    session.disconnect()
    asyncio.run(writer.write_entity(user_entity("alice"), lambda texts: {}))
    asyncio.run(writer.add_rules([rule("later")]))
    clock.advance(1000)
    assert follower.user_configs("alice") == {"a": "1"}
    session.reconnect()
    clock.advance(1000)
    assert list(follower.rules) == [rule("later")] and follower.entities == {}


def test_two_writers_at_once_lose_nothing() -> None:
    """The second one's compare-and-set fails, and is made again on what the first one wrote."""
    kit = TreeKit()
    tree = SecurityTree(kit.tree.connect(), SimClock())
    other = kit.tree.connect()
    path = entity_path(user_entity("alice"))

    def edit(texts: Mapping[str, str]) -> dict[str, str]:
        if not other.exists(path):
            for each in (parent_of(path), path):
                other.create(each, b'{"version":1,"config":{"a":"1"}}')
        return {**texts, "b": "2"}

    asyncio.run(tree.write_entity(user_entity("alice"), edit))
    assert tree.user_configs("alice") == {"a": "1", "b": "2"}


async def test_what_is_written_while_everything_is_read_again_is_not_undone() -> None:
    """A change of its own is read before, between and after the portions of a reading of everything."""
    kit = TreeKit()
    session = kit.tree.connect()
    loop = asyncio.get_running_loop()
    thread = LoopScheduler(loop, name="store", workers_max=1)
    try:
        tree = SecurityTree(session, thread)
        tree.watch(loop.call_soon_threadsafe)
        await tree.add_rules([rule(f"old-{number}") for number in range(2 * READS_AT_ONCE)])
        for number in range(ROUNDS):
            tree.note(None)
            await asyncio.gather(
                tree.add_rules([rule(f"new-{number}")]),
                tree.remove_rules([RuleFilter(name=f"old-{number}")]),
                tree.write_entity(user_entity("alice"), lambda texts, number=number: {"n": str(number)}),  # type: ignore[misc]
            )
            assert tree.user_configs("alice") == {"n": str(number)}
        await eventually(lambda: {each.name for each in tree.rules} == wanted_names())
    finally:
        await thread.close()


def wanted_names() -> set[str]:
    return {f"old-{number}" for number in range(ROUNDS, 2 * READS_AT_ONCE)} | {
        f"new-{number}" for number in range(ROUNDS)
    }


async def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "it did not come about"
        await asyncio.sleep(0.01)
