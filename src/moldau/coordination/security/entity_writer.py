"""Changes the settings of a user, client or address by compare-and-set. Blocks: runs on a worker thread."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

from moldau.coordination import tree_layout as layout
from moldau.coordination.security.entity_nodes import CLIENT, FOLDERS, USER, Entity, clients_path, entity_path
from moldau.coordination.store import (
    BadVersion,
    Delete,
    NodeExists,
    NoNode,
    NotEmpty,
    SetData,
    Store,
    parent_of,
)
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError

WRITE_TRIES_MAX: Final = 10
Texts = Mapping[str, str]


def write_entity(store: Store, entity: Entity, edit: Callable[[Texts], Mapping[str, str]]) -> str:
    """Replaces the settings by the result of `edit`, and returns the node's path. `edit` may run several times.

    A node without settings is deleted, unless clients of the user have settings below it.
    """
    path = entity_path(entity)
    for _ in range(WRITE_TRIES_MAX):
        (found,) = store.read_many([path])
        present = {} if found is None else readable_configs(found.data)
        texts = dict(edit(present))
        try:
            if found is None:
                if texts:
                    _create_parents(store, entity, path)
                    store.create(path, layout.encode_configs(texts))
            elif not texts:
                _clear(store, path, found.stat.version)
            elif texts != present:
                store.set(path, layout.encode_configs(texts), found.stat.version)
        except (BadVersion, NodeExists, NoNode):
            continue  # Another broker changed it at the same time.
        return path
    raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, f"{path} kept changing while it was written; try again")


def entity_paths(store: Store) -> list[str]:
    """Of every node with such settings."""
    users = _below(store, FOLDERS[USER])
    of_users = [path for user in users for path in _below(store, clients_path(user))]
    others = [path for kind, folder in FOLDERS.items() if kind != USER for path in _below(store, folder)]
    return [*users, *of_users, *others]


def readable_configs(data: bytes) -> Texts:
    """What cannot be read, because somebody else wrote it, counts as no settings."""
    try:
        return layout.decode_configs(data)
    except (ValueError, KeyError, TypeError):
        return {}


def _clear(store: Store, path: str, version: int) -> None:
    empty = layout.encode_configs({})
    try:
        store.multi([Delete(path, version)])
    except NotEmpty:
        store.multi([SetData(path, empty, version)])


def _create_parents(store: Store, entity: Entity, path: str) -> None:
    folders = [layout.CONFIGS, FOLDERS[entity[0].kind]]
    if len(entity) > 1:
        assert entity[1].kind == CLIENT
        folder = parent_of(path)
        folders += [parent_of(folder), folder]
    for each in folders:
        if not store.exists(each):
            with suppress(NodeExists):
                store.create(each)


def _below(store: Store, folder: str) -> list[str]:
    try:
        return [f"{folder}/{name}" for name in store.children(folder)]
    except NoNode:
        return []
