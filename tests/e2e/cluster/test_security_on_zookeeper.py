"""Rules and users on a real ZooKeeper: brokers follow one another, also past a restart of the server."""

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import pytest

from moldau.coordination.security.entity_nodes import user_entity
from moldau.coordination.security.security_tree import SecurityTree
from moldau.coordination.zookeeper import ZooKeeperStore
from moldau.coordination.zookeeper_server import ZooKeeperServer
from moldau.node.loop_scheduler import LoopScheduler
from moldau.security.access.model import Operation, Pattern, Permission, ResourceKind, Rule, RuleFilter
from zookeeper_kit import one_zookeeper

PATIENCE_S = 60
SESSION_MS = 30_000
NAMES = ("orders", "*", "a/b", "100%", "..", "tab\tand\nline", "ünicode", "x" * 300)
Opened = tuple[SecurityTree, ZooKeeperStore]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooKeeperServer]:
    with one_zookeeper(tmp_path_factory.mktemp("zookeeper")) as started:
        yield started


@pytest.fixture
async def broker(server: ZooKeeperServer) -> AsyncIterator[Callable[[], Awaitable[Opened]]]:
    """Opens what each broker has: a session, a thread for it, and the tree in memory."""
    where = f"{server.address}/security/{uuid.uuid4()}"
    loop = asyncio.get_running_loop()
    opened: list[tuple[SecurityTree, ZooKeeperStore, LoopScheduler]] = []

    async def open_one() -> Opened:
        thread = LoopScheduler(loop, name="store", workers_max=1)
        store = await thread.run_in_worker(lambda: ZooKeeperStore(where, session_timeout_ms=SESSION_MS))
        tree = await thread.run_in_worker(lambda: SecurityTree(store, thread))
        tree.watch(loop.call_soon_threadsafe)
        opened.append((tree, store, thread))
        return tree, store

    yield open_one
    for tree, store, thread in opened:
        tree.close()
        await thread.close()
        store.close()


async def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "it did not come about"
        await asyncio.sleep(0.01)


def rule(name: str, pattern: Pattern = Pattern.LITERAL) -> Rule:
    return Rule(ResourceKind.GROUP, name, pattern, "User:alice", "*", Operation.READ, Permission.ALLOW)


async def test_brokers_follow_one_another(broker: Callable[[], Awaitable[Opened]]) -> None:
    (first, _), (second, _) = await broker(), await broker()
    rules = {rule(name, pattern) for name in NAMES for pattern in (Pattern.LITERAL, Pattern.PREFIXED)}
    await first.add_rules(rules)
    assert set(first.rules) == rules
    await eventually(lambda: set(second.rules) == rules)
    alice = user_entity("alice")
    await asyncio.gather(
        first.write_entity(alice, lambda texts: {**texts, "a": "1"}),
        second.write_entity(alice, lambda texts: {**texts, "b": "2"}),
    )
    for tree in (first, second):
        await eventually(lambda tree=tree: tree.user_configs("alice") == {"a": "1", "b": "2"})  # type: ignore[misc]
    (gone,) = await second.remove_rules([RuleFilter(pattern=Pattern.PREFIXED)])
    assert len(gone) == len(NAMES)
    await eventually(lambda: len(first.rules) == len(NAMES))
    third, _ = await broker()
    assert set(third.rules) == set(first.rules) and third.entities == first.entities


async def test_two_brokers_that_write_the_same_resource_lose_nothing(
    broker: Callable[[], Awaitable[Opened]],
) -> None:
    trees = [tree for tree, _ in (await broker(), await broker())]
    rules = [rule("orders")._replace(principal=f"User:{number}") for number in range(30)]
    await asyncio.gather(*(trees[number % 2].add_rules([each]) for number, each in enumerate(rules)))
    for tree in trees:
        await eventually(lambda tree=tree: set(tree.rules) == set(rules))  # type: ignore[misc]


async def test_what_is_missed_while_the_server_is_away_is_read_again(
    server: ZooKeeperServer, broker: Callable[[], Awaitable[Opened]]
) -> None:
    (first, _), (second, _) = await broker(), await broker()
    await first.add_rules([rule("before")])
    await eventually(lambda: len(second.rules) == 1)
    await asyncio.to_thread(server.kill)
    await asyncio.to_thread(server.start)
    await first.add_rules([rule("after")])
    await eventually(lambda: {each.name for each in second.rules} == {"before", "after"})
