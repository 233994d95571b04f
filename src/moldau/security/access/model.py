"""The words of a rule of access: operations, resources, patterns, with Kafka's codes."""

from enum import IntEnum
from typing import Final, NamedTuple

WILDCARD: Final = "*"
"""As a resource's name, as a host: all of them."""
ANYONE: Final = "User:*"
ANONYMOUS: Final = "User:ANONYMOUS"
"""Whoever has not logged in."""
CLUSTER_NAME: Final = "kafka-cluster"
"""The name of the one resource of the kind CLUSTER."""


class ResourceKind(IntEnum):
    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class Operation(IntEnum):
    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15


class Pattern(IntEnum):
    """How a rule's name is compared. ANY and MATCH occur in filters only."""

    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class Permission(IntEnum):
    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3


class Rule(NamedTuple):
    """Kafka calls it an ACL binding."""

    kind: ResourceKind
    name: str
    pattern: Pattern
    principal: str
    """As text, `User:alice`."""
    host: str
    operation: Operation
    permission: Permission

    @property
    def resource(self) -> "Resource":
        return Resource(self.kind, self.pattern, self.name)

    @property
    def entry(self) -> "Entry":
        return Entry(self.principal, self.host, self.operation, self.permission)


class Resource(NamedTuple):
    """What rules are kept by: one resource, or all whose names start with `name`."""

    kind: ResourceKind
    pattern: Pattern
    name: str


class Entry(NamedTuple):
    """A rule without its resource."""

    principal: str
    host: str
    operation: Operation
    permission: Permission


class RuleFilter(NamedTuple):
    """Which rules somebody asks for. ANY and None let everything pass."""

    kind: ResourceKind = ResourceKind.ANY
    name: str | None = None
    pattern: Pattern = Pattern.ANY
    """MATCH: every rule that applies to the resource of this name."""
    principal: str | None = None
    host: str | None = None
    operation: Operation = Operation.ANY
    permission: Permission = Permission.ANY

    def takes_resource(self, resource: Resource) -> bool:
        """Whether rules of the resource may pass."""
        if self.kind not in (ResourceKind.ANY, resource.kind):
            return False
        if self.pattern not in (Pattern.ANY, Pattern.MATCH, resource.pattern):
            return False
        if self.name is None or self.name == resource.name:
            return True
        if self.pattern is not Pattern.MATCH:
            return False
        if resource.pattern is Pattern.PREFIXED:
            return self.name.startswith(resource.name)
        return resource.name == WILDCARD

    def takes_entry(self, entry: Entry) -> bool:
        return (
            self.principal in (None, entry.principal)
            and self.host in (None, entry.host)
            and self.operation in (Operation.ANY, entry.operation)
            and self.permission in (Permission.ANY, entry.permission)
        )


class Caller(NamedTuple):
    """Who asks, and from which address."""

    principal: str
    host: str
    request: str = "unknown"
    """The name of the request it comes with, for the authorizer's log."""
