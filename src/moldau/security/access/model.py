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


class Caller(NamedTuple):
    """Who asks, and from which address."""

    principal: str
    host: str
