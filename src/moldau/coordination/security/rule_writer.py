"""Adds and removes rules of access by compare-and-set. Blocks: runs on a worker thread."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final

from moldau.coordination.security.rule_nodes import (
    EXTENDED_RULES,
    KINDS,
    LITERAL_RULES,
    PREFIXED_RULES,
    RULE_FOLDERS,
    decode_entries,
    encode_entries,
    folder_of,
    resource_of,
    rules_path,
)
from moldau.coordination.store import (
    BadVersion,
    Create,
    Delete,
    NodeExists,
    NoNode,
    Op,
    Reading,
    SetData,
    Store,
)
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.security.access.model import Entry, Pattern, Resource, ResourceKind, Rule, RuleFilter
from moldau.security.access.rules import rule_of

WRITE_TRIES_MAX: Final = 10
RESOURCES_PER_WRITE_MAX: Final = 200
WRITE_BYTES_MAX: Final = 500_000
NODE_BYTES_MAX: Final = 1_000_000
"""ZooKeeper accepts no more in one request."""

Edit = Callable[[Resource, frozenset[Entry]], frozenset[Entry]]


def add_rules(store: Store, entries: Mapping[Resource, Iterable[Entry]]) -> list[str]:
    """Returns the paths of the nodes. ApiError if a resource would have more rules than fit."""
    wanted = {resource: frozenset(each) for resource, each in entries.items()}
    _edit_all(store, list(wanted), lambda resource, present: present | wanted[resource])
    return [rules_path(resource) for resource in wanted]


def remove_rules(store: Store, filters: Sequence[RuleFilter]) -> tuple[list[list[Rule]], list[str]]:
    """The rules that each filter matched, sorted, and the paths of the nodes. All of them are removed."""
    removed: dict[Resource, frozenset[Entry]] = {}

    def edit(resource: Resource, present: frozenset[Entry]) -> frozenset[Entry]:
        gone = frozenset(entry for entry in present if _is_wanted(filters, resource, entry))
        removed[resource] = gone
        return present - gone

    resources = list(dict.fromkeys(resource for each in filters for resource in _candidates(store, each)))
    _edit_all(store, resources, edit)
    matched = [
        sorted(
            rule_of(resource, entry)
            for resource, entries in removed.items()
            if each.takes_resource(resource)
            for entry in entries
            if each.takes_entry(entry)
        )
        for each in filters
    ]
    return matched, [rules_path(resource) for resource, entries in removed.items() if entries]


def rule_folders(store: Store) -> list[str]:
    """The folders that there are."""
    there = {f"{top}/{name}" for top in (LITERAL_RULES, PREFIXED_RULES) for name in _children(store, top)}
    return [folder for folder in RULE_FOLDERS if folder in there]


def rule_paths(store: Store, folders: Iterable[str]) -> list[str]:
    """Of every node with rules in these folders."""
    return [f"{folder}/{name}" for folder in folders for name in _children(store, folder)]


def _is_wanted(filters: Sequence[RuleFilter], resource: Resource, entry: Entry) -> bool:
    return any(each.takes_resource(resource) and each.takes_entry(entry) for each in filters)


def _candidates(store: Store, wanted: RuleFilter) -> Iterator[Resource]:
    """The resources whose rules may match. They are looked up in the tree, which knows more than memory does."""
    kinds = KINDS if wanted.kind is ResourceKind.ANY else (wanted.kind,)
    both = (Pattern.LITERAL, Pattern.PREFIXED)
    for pattern in (wanted.pattern,) if wanted.pattern in both else both:
        for path in rule_paths(store, [folder_of(pattern, kind) for kind in kinds]):
            resource = resource_of(path)
            if resource is not None and wanted.takes_resource(resource):
                yield resource


def _edit_all(store: Store, resources: Sequence[Resource], edit: Edit) -> None:
    for start in range(0, len(resources), RESOURCES_PER_WRITE_MAX):
        _edit_some(store, resources[start : start + RESOURCES_PER_WRITE_MAX], edit)


def _edit_some(store: Store, resources: Sequence[Resource], edit: Edit) -> None:
    waiting = list(resources)
    for _ in range(WRITE_TRIES_MAX):
        try:
            for ops, done in _batches(store, waiting, edit):
                if ops:
                    store.multi(ops)
                waiting = waiting[done:]
        except NoNode:
            _create_folders(store)
        except (BadVersion, NodeExists):
            pass  # Another broker changed one of them at the same time.
        else:
            return
    raise ApiError(
        ErrorCode.UNKNOWN_SERVER_ERROR,
        f"the rules of {_shown(waiting[0])} kept changing while they were written; try again",
    )


def _batches(store: Store, resources: Sequence[Resource], edit: Edit) -> Iterator[tuple[list[Op], int]]:
    """The changes to be written together, and how many of the resources they are."""
    ops: list[Op] = []
    size = count = 0
    paths = [rules_path(resource) for resource in resources]
    for resource, path, found in zip(resources, paths, store.read_many(paths), strict=True):
        op = _change(resource, path, found, edit)
        op_size = len(getattr(op, "data", b""))
        if ops and size + op_size > WRITE_BYTES_MAX:
            yield ops, count
            ops, size, count = [], 0, 0
        if op is not None:
            ops.append(op)
        size += op_size
        count += 1
    yield ops, count


def _change(resource: Resource, path: str, found: Reading | None, edit: Edit) -> Op | None:
    present = frozenset() if found is None else readable_entries(found)
    after = edit(resource, present)
    if after == present:
        return None
    if not after and found is not None:
        return Delete(path, found.stat.version)
    data = encode_entries(after)
    if len(data) > NODE_BYTES_MAX:
        raise ApiError(
            ErrorCode.INVALID_REQUEST,
            f"{_shown(resource)} would have {len(after)} rules in {len(data)} bytes, but they are kept together and "
            f"may take {NODE_BYTES_MAX}; use a wildcard or a prefix to say the same with fewer rules",
        )
    return Create(path, data) if found is None else SetData(path, data, found.stat.version)


def readable_entries(node: Reading) -> frozenset[Entry]:
    """Of a node that somebody else wrote there may be nothing to read: it counts as having no rules."""
    try:
        return decode_entries(node.data)
    except (ValueError, KeyError, TypeError):
        return frozenset()


def _create_folders(store: Store) -> None:
    for path in (LITERAL_RULES, EXTENDED_RULES, PREFIXED_RULES, *RULE_FOLDERS):
        with suppress(NodeExists):
            store.create(path)


def _children(store: Store, folder: str) -> list[str]:
    try:
        return store.children(folder)
    except NoNode:
        return []


def _shown(resource: Resource) -> str:
    return f"{resource.kind.name}:{resource.pattern.name}:{resource.name}"
