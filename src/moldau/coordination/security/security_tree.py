"""The security part of the tree in memory: rules of access, settings of users, clients and addresses.

Works alike on every store. Read before anything is served; afterwards `watch` keeps it up to date with what other
brokers write. It changes on the owner's thread alone, nodes are read and written on the store's thread. A caller that
writes here sees the change in memory when the call returns; other brokers see it a moment later.
"""

import logging
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from moldau.coordination.image_updater import HandOver
from moldau.coordination.security.entity_nodes import Entity, entity_of, is_entity_path, user_entity
from moldau.coordination.security.entity_writer import entity_paths, readable_configs, write_entity
from moldau.coordination.security.rule_nodes import resource_of
from moldau.coordination.security.rule_writer import (
    add_rules,
    readable_entries,
    remove_rules,
    rule_folders,
    rule_paths,
)
from moldau.coordination.store import Reading, Store
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError, StorageFault
from moldau.core.ports import Scheduler
from moldau.security.access.model import Entry, Resource, Rule, RuleFilter
from moldau.security.access.rules import Rules, entries_by_resource

RETRY_MS: Final = 500
READS_AT_ONCE: Final = 1000
_log = logging.getLogger("moldau.coordination")

Texts = Mapping[str, str]


class _Content(NamedTuple):
    """What was read: all of it, or the nodes that changed."""

    rules: dict[Resource, frozenset[Entry]]
    entities: dict[Entity, Texts]
    everything: Rules | None = None
    """All rules, if all were read."""


class SecurityTree:
    def __init__(self, store: Store, store_thread: Scheduler) -> None:
        """Reads the tree: blocks, so call it before anything is served."""
        self._store = store
        self._scheduler = store_thread
        self._hand_over: HandOver | None = None
        self._turn = threading.Lock()
        self._dirty: set[str] = set()
        self._is_stale = False
        self._is_called = False
        self._is_reading = False
        self._is_closed = False
        self._listeners: list[Callable[[frozenset[Entity]], None]] = []
        store.watch(_Watch(self))
        self._meanwhile: _Content | None = None
        """What changed here while everything was being read."""
        first = _read_some(store, _all_paths(store))
        self.rules = _indexed(first)
        """Changes in place."""
        self.entities: Mapping[Entity, Texts] = {
            each: texts for each, texts in first.entities.items() if texts
        }
        """The settings of those that have any. A change replaces the mapping."""

    def user_configs(self, user: str) -> Texts:
        """The settings of one user: quotas and SCRAM credentials."""
        return self.entities.get(user_entity(user), {})

    def subscribe(self, listener: Callable[[frozenset[Entity]], None]) -> None:
        """It is called with the entities whose settings have changed, on the owner's thread."""
        self._listeners.append(listener)

    def watch(self, hand_over: HandOver) -> None:
        """From now on changes are followed, those since the first reading included."""
        with self._turn:
            self._hand_over = hand_over
            if not self._dirty and not self._is_stale:
                return
            self._is_called = True
        hand_over(self._begin)

    def close(self) -> None:
        self._is_closed = True

    # --- changes

    async def add_rules(self, rules: Iterable[Rule]) -> None:
        """ApiError if they cannot be written."""
        entries = entries_by_resource(rules)
        await self._change(lambda: add_rules(self._store, entries))

    async def remove_rules(self, filters: Sequence[RuleFilter]) -> list[list[Rule]]:
        """Removes the rules that match, and returns those of each filter. ApiError if it cannot be written."""
        matched: list[list[Rule]] = []

        def remove() -> list[str]:
            found, paths = remove_rules(self._store, filters)
            matched[:] = found
            return paths

        await self._change(remove)
        return matched

    async def write_entity(self, entity: Entity, edit: Callable[[Texts], Mapping[str, str]]) -> None:
        """Replaces the settings by the result of `edit`, which runs on the store's thread, again if another broker
        writes at the same time. ApiError if it cannot be written; what `edit` raises is passed on."""
        await self._change(lambda: [write_entity(self._store, entity, edit)])

    async def _change(self, write: Callable[[], list[str]]) -> None:
        def write_and_read() -> _Content:
            return _read_some(self._store, write())

        try:
            # Reads are published in the order of their jobs, so that this one never hides a later one.
            self._publish(await self._scheduler.run_in_worker(write_and_read))
        except StorageFault as fault:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, str(fault)) from None

    # --- following the tree

    def note(self, path: str | None) -> None:
        """A node changed; None: any node may have. Called on any thread."""
        with self._turn:
            if path is None:
                self._is_stale = True
            elif resource_of(path) is not None or is_entity_path(path):
                self._dirty.add(path)
            else:
                return
            if self._is_called or self._hand_over is None:
                return
            self._is_called = True
        self._hand_over(self._begin)

    def _begin(self) -> None:
        if not self._is_reading and not self._is_closed:
            self._is_reading = True
            self._scheduler.spawn(self._catch_up())

    async def _catch_up(self) -> None:
        try:
            while (taken := self._take()) is not None and not self._is_closed:
                paths, is_stale = taken
                try:
                    self._publish(await (self._read_all() if is_stale else self._read(paths)))
                except StorageFault as fault:
                    _log.warning("rules and users could not be read; retrying in %d ms: %s", RETRY_MS, fault)
                    with self._turn:
                        self._is_stale = True
                    self._scheduler.call_later(RETRY_MS, self._begin)
                    return
        finally:
            self._is_reading = False

    def _read(self, paths: Sequence[str]) -> Awaitable[_Content]:
        return self._scheduler.run_in_worker(partial(_read_some, self._store, paths))

    async def _read_all(self) -> _Content:
        """In portions: the store's thread has other work to do in between, however many rules there are."""
        meanwhile = self._meanwhile = _Content({}, {})
        try:
            run = self._scheduler.run_in_worker
            paths = await run(partial(_all_paths, self._store))
            read = _Content({}, {})
            for start in range(0, len(paths), READS_AT_ONCE):
                portion = await self._read(paths[start : start + READS_AT_ONCE])
                read.rules.update(portion.rules)
                read.entities.update(portion.entities)
            everything = await run(partial(_indexed, read))
        finally:
            self._meanwhile = None
        return _Content(meanwhile.rules, {**read.entities, **meanwhile.entities}, everything)

    def _take(self) -> tuple[list[str], bool] | None:
        with self._turn:
            paths, is_stale = sorted(self._dirty), self._is_stale
            self._dirty, self._is_stale = set(), False
            if paths or is_stale:
                return paths, is_stale
            self._is_called = False
            return None

    def _publish(self, read: _Content) -> None:
        before = self.entities
        if self._meanwhile is not None:
            self._meanwhile.rules.update(read.rules)
            self._meanwhile.entities.update(read.entities)
        if read.everything is not None:
            self.rules.replace(read.everything)
        if read.rules:
            self.rules.put_all(read.rules)
        known = before if read.everything is None else {}
        after = {entity: texts for entity, texts in {**known, **read.entities}.items() if texts}
        changed = frozenset(
            entity for entity in before.keys() | after.keys() if before.get(entity) != after.get(entity)
        )
        if changed:
            self.entities = after
            for listener in self._listeners:
                listener(changed)


class _Watch:
    def __init__(self, tree: SecurityTree) -> None:
        self._tree = tree

    def changed(self, path: str) -> None:
        self._tree.note(path)

    def disconnected(self) -> None:
        """What is known stays in force."""

    def connected(self, *, new_session: bool) -> None:
        self._tree.note(None)


def _all_paths(store: Store) -> list[str]:
    return [*rule_paths(store, rule_folders(store)), *entity_paths(store)]


def _indexed(read: _Content) -> Rules:
    rules = Rules()
    rules.put_all(read.rules)
    return rules


def _read_some(store: Store, paths: Sequence[str]) -> _Content:
    read = _Content({}, {})
    for start in range(0, len(paths), READS_AT_ONCE):
        some = paths[start : start + READS_AT_ONCE]
        for path, node in zip(some, store.read_many(some), strict=True):
            _take_node(read, path, node)
    return read


def _take_node(read: _Content, path: str, node: Reading | None) -> None:
    resource = resource_of(path)
    if resource is not None:
        read.rules[resource] = frozenset() if node is None else readable_entries(node)
        return
    entity = entity_of(path)
    if entity is not None:
        read.entities[entity] = {} if node is None else readable_configs(node.data)
