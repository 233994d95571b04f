"""The question every service asks before it does something, and the answer where nothing is forbidden."""

from typing import Final, Protocol

from moldau.security.access.model import Caller, Operation, ResourceKind

OPERATIONS_OF: Final[dict[ResourceKind, tuple[Operation, ...]]] = {
    ResourceKind.TOPIC: (
        Operation.READ, Operation.WRITE, Operation.CREATE, Operation.DESCRIBE, Operation.DELETE, Operation.ALTER,
        Operation.DESCRIBE_CONFIGS, Operation.ALTER_CONFIGS,
    ),
    ResourceKind.GROUP: (
        Operation.READ, Operation.DESCRIBE, Operation.DELETE, Operation.DESCRIBE_CONFIGS, Operation.ALTER_CONFIGS,
    ),
    ResourceKind.CLUSTER: (
        Operation.CREATE, Operation.CLUSTER_ACTION, Operation.DESCRIBE_CONFIGS, Operation.ALTER_CONFIGS,
        Operation.IDEMPOTENT_WRITE, Operation.ALTER, Operation.DESCRIBE,
    ),
    ResourceKind.TRANSACTIONAL_ID: (Operation.DESCRIBE, Operation.WRITE, Operation.TWO_PHASE_COMMIT),
    ResourceKind.DELEGATION_TOKEN: (Operation.DESCRIBE,),
    ResourceKind.USER: (Operation.CREATE_TOKENS, Operation.DESCRIBE_TOKENS),
}  # fmt: skip
"""What can be done with a resource of each kind."""


class Authorizer(Protocol):
    def allows(
        self, caller: Caller, operation: Operation, kind: ResourceKind, name: str, *, is_logged: bool = True
    ) -> bool:
        """Whether it may be done. `is_logged` False: the caller only sees less, it is not refused anything."""
        ...

    def allows_some(self, caller: Caller, operation: Operation, kind: ResourceKind) -> bool:
        """Whether it may be done with at least one resource of the kind, whatever its name."""
        ...


class AllowEverything:
    """Where no authorizer is set."""

    def allows(
        self, caller: Caller, operation: Operation, kind: ResourceKind, name: str, *, is_logged: bool = True
    ) -> bool:
        return True

    def allows_some(self, caller: Caller, operation: Operation, kind: ResourceKind) -> bool:
        return True


def operations_bits(authorizer: Authorizer, caller: Caller, kind: ResourceKind, name: str) -> int:
    """The operations that are allowed, as answers carry them (KIP-430): a bit for each code."""
    return sum(
        1 << operation
        for operation in OPERATIONS_OF[kind]
        if authorizer.allows(caller, operation, kind, name, is_logged=False)
    )
