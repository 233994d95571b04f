"""Rules of access as nodes, in the layout of Kafka's on ZooKeeper. Pure.

| node | content |
|---|---|
| /kafka-acl/KIND/NAME | `{"version":1,"acls":[{"principal":"User:a","permissionType":"Allow","operation":"Read","host":"*"}]}` |
| /kafka-acl-extended/prefixed/KIND/NAME | the same, for every resource whose name starts with NAME |

KIND is `Topic`, `Group`, `Cluster`, `TransactionalId`, `DelegationToken` or `User`; NAME is `*` for all of a kind. A name
is kept as it is, except that what a path cannot hold is written as `%2F`, and `%` itself as `%25`.
"""  # noqa: E501

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import unquote

import orjson

from moldau.security.access.model import Entry, Operation, Pattern, Permission, Resource, ResourceKind
from moldau.security.access.rule_words import parse_word, pascal_case

LITERAL_RULES: Final = "/kafka-acl"
EXTENDED_RULES: Final = "/kafka-acl-extended"
PREFIXED_RULES: Final = "/kafka-acl-extended/prefixed"
KINDS: Final = (
    ResourceKind.TOPIC,
    ResourceKind.GROUP,
    ResourceKind.CLUSTER,
    ResourceKind.TRANSACTIONAL_ID,
    ResourceKind.DELEGATION_TOKEN,
    ResourceKind.USER,
)
"""The kinds that rules can be about."""
RULE_FOLDERS: Final = tuple(
    f"{folder}/{pascal_case(kind)}" for folder in (LITERAL_RULES, PREFIXED_RULES) for kind in KINDS
)
_NODE_VERSION: Final = 1
_UNFIT: Final = re.compile("[%/\\x00-\\x1f\\x7f-\\x9f\ud800-\uf8ff\ufff0-\uffff]")
"""What ZooKeeper rejects in a path, and what our escapes begin with."""
_NO_NAMES: Final = {".": "%2E", "..": "%2E%2E"}


def folder_of(pattern: Pattern, kind: ResourceKind) -> str:
    return f"{PREFIXED_RULES if pattern is Pattern.PREFIXED else LITERAL_RULES}/{pascal_case(kind)}"


def rules_path(resource: Resource) -> str:
    return f"{folder_of(resource.pattern, resource.kind)}/{_node_of(resource.name)}"


def resource_of(path: str) -> Resource | None:
    """None: the path is not that of a resource's rules."""
    folder, _, node = path.rpartition("/")
    found = _FOLDERS.get(folder)
    if found is None:
        return None
    pattern, kind = found
    return Resource(kind, pattern, unquote(node) if "%" in node else node)


_FOLDERS: Final = {
    folder_of(pattern, kind): (pattern, kind)
    for pattern in (Pattern.LITERAL, Pattern.PREFIXED)
    for kind in KINDS
}


def _node_of(name: str) -> str:
    escaped = _UNFIT.sub(_escape, name)
    return _NO_NAMES.get(escaped, escaped)


def _escape(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found.group().encode("utf-8", "surrogatepass"))


def encode_entries(entries: Iterable[Entry]) -> bytes:
    return orjson.dumps(
        {
            "version": _NODE_VERSION,
            "acls": [
                {
                    "principal": each.principal,
                    "permissionType": pascal_case(each.permission),
                    "operation": pascal_case(each.operation),
                    "host": each.host,
                }
                for each in sorted(entries)
            ],
        }
    )


def decode_entries(data: bytes) -> frozenset[Entry]:
    """ValueError, KeyError, TypeError if somebody else wrote something else."""
    return frozenset(
        Entry(
            each["principal"],
            each["host"],
            parse_word(Operation, each["operation"]),
            parse_word(Permission, each["permissionType"]),
        )
        for each in orjson.loads(data)["acls"]
    )
