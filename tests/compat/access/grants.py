"""Users of whom each has exactly one right, or every right but one: generated from what can be done with resources."""

from typing import Final

from moldau.security.access.authorizer import OPERATIONS_OF
from moldau.security.access.model import WILDCARD, Operation, Pattern, Permission, ResourceKind, Rule

KINDS: Final = (
    ResourceKind.TOPIC,
    ResourceKind.GROUP,
    ResourceKind.CLUSTER,
    ResourceKind.TRANSACTIONAL_ID,
    ResourceKind.DELEGATION_TOKEN,
    ResourceKind.USER,
)
CLUSTER_NAME: Final = "kafka-cluster"
RIGHTS: Final = [(operation, kind) for kind in KINDS for operation in (Operation.ALL, *OPERATIONS_OF[kind])]


def grants() -> dict[str, list[Rule]]:
    """The rules by the user whom they are for."""
    users: dict[str, list[Rule]] = {"nothing": [], "everything": _everything("everything")}
    for operation, kind in RIGHTS:
        title = f"{operation.name}-{kind.name}".lower()
        users[f"only-{title}"] = [_rule(f"only-{title}", operation, kind, Permission.ALLOW)]
        user = f"all-but-{title}"
        users[user] = [*_everything(user), _rule(user, operation, kind, Permission.DENY)]
    return users


def _everything(user: str) -> list[Rule]:
    return [_rule(user, Operation.ALL, kind, Permission.ALLOW) for kind in KINDS]


def _rule(user: str, operation: Operation, kind: ResourceKind, permission: Permission) -> Rule:
    name = CLUSTER_NAME if kind is ResourceKind.CLUSTER else WILDCARD
    return Rule(kind, name, Pattern.LITERAL, f"User:{user}", WILDCARD, operation, permission)
