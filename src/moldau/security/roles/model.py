"""The words of roles, and what each role allows on each kind of resource.

The names are those of Confluent's predefined roles, and so is their meaning as far as Kafka's rules can express it.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from moldau.security.access.model import CLUSTER_NAME, WILDCARD, Operation, Pattern, ResourceKind

GROUP_PREFIX: Final = "Group:"
"""Of the principal that stands for all members of a group: `Group:payments`."""
ROLES_TOPIC: Final = "_moldau_roles"
AUDIT_TOPIC: Final = "_moldau_audit"
KEYS_TOPIC: Final = "_moldau_api_keys"
"""With the descriptions of API keys."""


class Role(StrEnum):
    CLUSTER_ADMIN = "ClusterAdmin"
    OPERATOR = "Operator"
    SECURITY_ADMIN = "SecurityAdmin"
    RESOURCE_OWNER = "ResourceOwner"
    DEVELOPER_READ = "DeveloperRead"
    DEVELOPER_WRITE = "DeveloperWrite"
    DEVELOPER_MANAGE = "DeveloperManage"


class ServiceKind(StrEnum):
    """Kinds of resources that HTTP services guard. Brokers do not know them."""

    SUBJECT = "subject"
    """Of the schema registry."""
    CONNECTOR = "connector"
    SQL = "sql"
    """A SQL server, by its service id."""


class Action(StrEnum):
    """What can be done with a resource of a service."""

    DESCRIBE = "describe"
    """See that it exists, and its state."""
    READ = "read"
    """See its content: schemas, a connector's configuration, results of queries."""
    WRITE = "write"
    """Create and change it: register schemas, configure connectors, start persistent queries."""
    DELETE = "delete"
    MANAGE = "manage"
    """Change how it behaves: compatibility and mode; pause, resume, restart, offsets; end queries."""


BindingKind = ResourceKind | ServiceKind


class Binding(NamedTuple):
    """A role that has been granted. Make one with `make_binding`."""

    principal: str
    """`User:alice`, or `Group:payments` for all members of a group."""
    role: Role
    kind: BindingKind
    name: str
    pattern: Pattern = Pattern.LITERAL
    """LITERAL with the name `*`: every resource of the kind."""

    @property
    def group(self) -> str | None:
        """The name of the group that has the role; None: it is granted to a user."""
        return group_of(self.principal)


CLUSTER_ROLES: Final = frozenset({Role.CLUSTER_ADMIN, Role.OPERATOR, Role.SECURITY_ADMIN})
"""They are granted on the cluster, and reach everything in it and all services."""

BROKER_KINDS: Final = (
    ResourceKind.CLUSTER,
    ResourceKind.TOPIC,
    ResourceKind.GROUP,
    ResourceKind.TRANSACTIONAL_ID,
)
KINDS: Final[tuple[BindingKind, ...]] = (*BROKER_KINDS, *ServiceKind)

OPERATIONS: Final[Mapping[Role, Mapping[ResourceKind, tuple[Operation, ...]]]] = {
    Role.RESOURCE_OWNER: {kind: (Operation.ALL,) for kind in BROKER_KINDS},
    Role.DEVELOPER_READ: {
        ResourceKind.TOPIC: (Operation.READ,),
        ResourceKind.GROUP: (Operation.READ,),
        ResourceKind.TRANSACTIONAL_ID: (Operation.DESCRIBE,),
    },
    Role.DEVELOPER_WRITE: {
        ResourceKind.TOPIC: (Operation.WRITE,),
        ResourceKind.TRANSACTIONAL_ID: (Operation.WRITE,),
        ResourceKind.CLUSTER: (Operation.IDEMPOTENT_WRITE,),
    },
    Role.DEVELOPER_MANAGE: {
        ResourceKind.TOPIC: (Operation.CREATE, Operation.DELETE, Operation.ALTER, Operation.ALTER_CONFIGS),
        ResourceKind.GROUP: (Operation.DELETE,),
        ResourceKind.TRANSACTIONAL_ID: (Operation.DESCRIBE,),
        ResourceKind.CLUSTER: (Operation.CREATE,),
    },
}
"""What the roles that are granted on single resources allow there. What Kafka implies is not repeated: who may read,
write, delete or alter may describe, and who may alter settings may see them."""

CLUSTER_OPERATIONS: Final[Mapping[Role, Mapping[tuple[ResourceKind, str], tuple[Operation, ...]]]] = {
    Role.CLUSTER_ADMIN: {
        (ResourceKind.CLUSTER, CLUSTER_NAME): (
            Operation.CREATE, Operation.ALTER, Operation.ALTER_CONFIGS, Operation.IDEMPOTENT_WRITE,
        ),
        (ResourceKind.TOPIC, WILDCARD): (Operation.ALL,),
        (ResourceKind.GROUP, WILDCARD): (Operation.ALL,),
        (ResourceKind.TRANSACTIONAL_ID, WILDCARD): (Operation.ALL,),
    },
    Role.OPERATOR: {
        (ResourceKind.CLUSTER, CLUSTER_NAME): (Operation.DESCRIBE, Operation.DESCRIBE_CONFIGS),
        (ResourceKind.TOPIC, WILDCARD): (Operation.ALTER, Operation.ALTER_CONFIGS),
        (ResourceKind.GROUP, WILDCARD): (Operation.DESCRIBE, Operation.DESCRIBE_CONFIGS),
        (ResourceKind.TRANSACTIONAL_ID, WILDCARD): (Operation.DESCRIBE,),
    },
    Role.SECURITY_ADMIN: {
        (ResourceKind.CLUSTER, CLUSTER_NAME): (Operation.ALTER, Operation.DESCRIBE_CONFIGS),
        (ResourceKind.TOPIC, ROLES_TOPIC): (
            Operation.CREATE, Operation.READ, Operation.WRITE, Operation.DESCRIBE_CONFIGS,
        ),
        (ResourceKind.TOPIC, KEYS_TOPIC): (Operation.CREATE, Operation.READ, Operation.WRITE),
        (ResourceKind.TOPIC, AUDIT_TOPIC): (Operation.READ,),
    },
}  # fmt: skip
"""What the roles that are granted on the cluster allow, by kind and name. Kafka asks for `alter` on the cluster before
it changes rules and users, and also before it moves replicas."""

_EVERYTHING: Final = frozenset(Action)
_LOOK: Final = frozenset({Action.DESCRIBE})
_READ: Final = frozenset({Action.DESCRIBE, Action.READ})
_WRITE: Final = frozenset({Action.DESCRIBE, Action.READ, Action.WRITE})
_MANAGE: Final = frozenset({Action.DESCRIBE, Action.DELETE, Action.MANAGE})

ACTIONS: Final[Mapping[Role, Mapping[ServiceKind, frozenset[Action]]]] = {
    Role.CLUSTER_ADMIN: dict.fromkeys(ServiceKind, _EVERYTHING),
    Role.OPERATOR: {
        ServiceKind.SUBJECT: _LOOK,
        ServiceKind.CONNECTOR: _READ | {Action.MANAGE},
        ServiceKind.SQL: _LOOK | {Action.MANAGE},
    },
    Role.SECURITY_ADMIN: dict.fromkeys(ServiceKind, _LOOK),
    Role.RESOURCE_OWNER: dict.fromkeys(ServiceKind, _EVERYTHING),
    Role.DEVELOPER_READ: dict.fromkeys(ServiceKind, _READ),
    Role.DEVELOPER_WRITE: dict.fromkeys(ServiceKind, _WRITE),
    Role.DEVELOPER_MANAGE: {
        ServiceKind.SUBJECT: _MANAGE,
        ServiceKind.CONNECTOR: _EVERYTHING,
        ServiceKind.SQL: _MANAGE,
    },
}
"""What each role allows on resources of services. A role that manages connectors also creates them, as at Confluent."""

_ROLES_BY_BARE_NAME: Final = {role.value.lower(): role for role in Role}


def parse_role(text: str) -> Role:
    """`DeveloperRead`, `developer-read`, `developer_read`. ValueError with the roles there are."""
    found = _ROLES_BY_BARE_NAME.get(text.replace("-", "").replace("_", "").lower())
    if found is None:
        raise ValueError(f"{text!r} is not a role: use one of {', '.join(Role)}")
    return found


def kind_word(kind: BindingKind) -> str:
    """As people write it: `transactional-id`, `subject`."""
    return kind.value if isinstance(kind, ServiceKind) else kind.name.lower().replace("_", "-")


_KINDS_BY_BARE_WORD: Final = {kind_word(kind).replace("-", ""): kind for kind in KINDS}


def parse_kind(text: str) -> BindingKind:
    """`topic`, `transactional-id`, `TransactionalId`, `subject`. ValueError with the kinds there are."""
    found = _KINDS_BY_BARE_WORD.get(text.replace("-", "").replace("_", "").lower())
    if found is None:
        words = ", ".join(kind_word(each) for each in KINDS)
        raise ValueError(f"roles are not granted on {text!r}: use one of {words}")
    return found


def group_of(principal: str) -> str | None:
    """The name of the group that the principal stands for; None: it is a user."""
    return principal.removeprefix(GROUP_PREFIX) if principal.startswith(GROUP_PREFIX) else None


def reaches(role: Role, kind: BindingKind) -> bool:
    """Whether the role can be granted on a resource of this kind."""
    if role in CLUSTER_ROLES:
        return kind is ResourceKind.CLUSTER
    if isinstance(kind, ServiceKind):
        return kind in ACTIONS[role]
    return kind in OPERATIONS[role]


def least_role(action: Action, kind: ServiceKind) -> Role:
    """The role that allows the action on a resource of a service, and as little else as possible."""
    return min(
        (role for role in Role if role not in CLUSTER_ROLES and action in ACTIONS[role][kind]),
        key=lambda role: (len(ACTIONS[role][kind]), role is Role.RESOURCE_OWNER),
    )


def make_binding(
    principal: str, role: Role, kind: BindingKind, name: str, pattern: Pattern = Pattern.LITERAL
) -> Binding:
    """ValueError, with the reason, if this cannot be granted."""
    check_principal(principal)
    if not reaches(role, kind):
        if role in CLUSTER_ROLES:
            raise ValueError(f"{role} is granted on the cluster, not on a {kind_word(kind)}")
        fitting = ", ".join(each for each in Role if reaches(each, kind))
        raise ValueError(f"{role} means nothing on a {kind_word(kind)}; roles that do: {fitting}")
    if pattern not in (Pattern.LITERAL, Pattern.PREFIXED):
        raise ValueError(
            f"a role is granted on a literal name or on a prefix, not on the pattern {pattern.name}"
        )
    if not name:
        raise ValueError(f"the name of the {kind_word(kind)} is empty; '*' is all of them")
    if kind is ResourceKind.CLUSTER and (name != CLUSTER_NAME or pattern is not Pattern.LITERAL):
        raise ValueError(f"the cluster has the name {CLUSTER_NAME!r}, not {name!r}")
    if pattern is Pattern.PREFIXED and name == WILDCARD:
        raise ValueError("'*' is not a prefix; as a literal name it means all resources of the kind")
    return Binding(principal, role, kind, name, pattern)


def check_principal(principal: str) -> None:
    """ValueError if it is not `User:NAME` or `Group:NAME`."""
    kind, separator, name = principal.partition(":")
    if not separator or not kind or not name:
        raise ValueError(f"{principal!r} is not a principal: write User:NAME, or Group:NAME for a group")
