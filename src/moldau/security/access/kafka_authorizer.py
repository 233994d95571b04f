"""The authorizer that decides as Kafka's StandardAuthorizer does, from rules in memory, and logs as it does.

Most questions are answered from the bits of `rule_bits`; the rule that decides is looked for only to be told. Answers
that depend on the caller's host take longer, and are remembered until the rules change.
"""

import logging
from collections.abc import Callable
from typing import Final

from moldau.security.access.decision import Decision, log_line
from moldau.security.access.model import (
    WILDCARD,
    Caller,
    Operation,
    Pattern,
    Permission,
    Resource,
    ResourceKind,
)
from moldau.security.access.rule_bits import HAS_HOSTS, OPERATION_BITS
from moldau.security.access.rules import Rules

LOGGER: Final = "kafka.authorizer.logger"
"""Kafka's own name, so that a log configuration can be taken over."""
TRACE: Final = logging.DEBUG - 5
REMEMBERED_MAX: Final = 16_384
REMEMBERED_NAME_SIZE_MAX: Final = 249
"""Longer names, of groups for example, are decided each time: a client could fill the memory with them."""
_NOTHING: Final = 0
_ALLOWED: Final = 1
_SAID: Final = 1 | 1 << OPERATION_BITS
"""The two bits of an operation among those of `rule_bits`."""
_log = logging.getLogger(LOGGER)


Witness = Callable[[Caller, Operation, ResourceKind, str, Decision], None]
"""Is told of every denial of something that was asked for."""


class KafkaAuthorizer:
    """Implements `authorizer.Authorizer`."""

    def __init__(
        self,
        rules: Rules,
        *,
        super_users: frozenset[str] = frozenset(),
        allows_without_rules: bool = False,
        witness: Witness | None = None,
    ) -> None:
        self.rules = rules
        self.super_users = super_users
        self.allows_without_rules = allows_without_rules
        self._witness = witness
        self._decided: dict[tuple[str, str, Operation, ResourceKind, str], bool] = {}
        self._decided_some: dict[tuple[str, str, Operation, ResourceKind], bool] = {}
        self._epoch = rules.epoch

    def allows(
        self, caller: Caller, operation: Operation, kind: ResourceKind, name: str, *, is_logged: bool = True
    ) -> bool:
        bits = self.rules.bits(caller[0], kind, name)
        # What `decide` says, without the rule.
        if caller[0] in self.super_users:
            is_allowed = True
        elif bits >= HAS_HOSTS:
            is_allowed = self._remembered(caller, operation, kind, name)
        else:
            said = bits >> operation & _SAID
            is_allowed = said == _ALLOWED or (
                said == _NOTHING and self.allows_without_rules and not self.rules.cover(kind, name)
            )
        if is_allowed or not is_logged:
            level = logging.DEBUG if is_allowed and is_logged else TRACE
            if not _log.isEnabledFor(level):
                return is_allowed
        else:
            level = logging.INFO
        self._tell(caller, operation, kind, name, level)
        return is_allowed

    def _remembered(self, caller: Caller, operation: Operation, kind: ResourceKind, name: str) -> bool:
        """What `decide` says, where it depends on the host."""
        self._forget_old()
        key = (caller[0], caller[1], operation, kind, name)
        known = self._decided.get(key)
        if known is None:
            known = self.decide(caller, operation, kind, name).is_allowed
            if len(name) <= REMEMBERED_NAME_SIZE_MAX:
                if len(self._decided) >= REMEMBERED_MAX:
                    self._decided.clear()
                self._decided[key] = known
        return known

    def _forget_old(self) -> None:
        if self._epoch != self.rules.epoch:
            self._decided.clear()
            self._decided_some.clear()
            self._epoch = self.rules.epoch

    def allows_some(self, caller: Caller, operation: Operation, kind: ResourceKind) -> bool:
        # As in Kafka: who is allowed with a name that nobody uses is a super user, or covered by a wildcard.
        if self.allows(caller, operation, kind, "hardcode", is_logged=False):
            return True
        self._forget_old()
        key = (caller.principal, caller.host, operation, kind)
        known = self._decided_some.get(key)
        if known is None:
            if len(self._decided_some) >= REMEMBERED_MAX:
                self._decided_some.clear()
            known = self._decided_some[key] = self._decide_some(caller, operation, kind)
        return known

    def _decide_some(self, caller: Caller, operation: Operation, kind: ResourceKind) -> bool:
        denied: set[Resource] = set()
        allowed: set[Resource] = set()
        for resource, clause in self.rules.clauses_of(caller, operation, kind):
            (denied if clause.is_denial else allowed).add(resource)
        everything = Resource(kind, Pattern.LITERAL, WILDCARD)
        if everything in denied:
            return False
        return everything in allowed or any(not _is_dominated(each, denied) for each in allowed)

    def decide(self, caller: Caller, operation: Operation, kind: ResourceKind, name: str) -> Decision:
        """What decides. Logs nothing."""
        if caller.principal in self.super_users:
            return Decision(True, None, "SuperUser")
        rule = self.rules.deciding(caller, operation, kind, name)
        if rule is not None:
            return Decision(rule.permission is Permission.ALLOW, rule)
        if self.allows_without_rules and not self.rules.cover(kind, name):
            return Decision(True, None, "DefaultAllow")
        return Decision(False, None, "DefaultDeny")

    def _tell(self, caller: Caller, operation: Operation, kind: ResourceKind, name: str, level: int) -> None:
        """The log, and the witness of a denial."""
        is_written = _log.isEnabledFor(level)
        witness = self._witness if level == logging.INFO else None
        if not is_written and witness is None:
            return
        decision = self.decide(caller, operation, kind, name)
        if is_written:
            _log.log(level, "%s", log_line(caller, operation, kind, name, decision))
        if witness is not None:
            witness(caller, operation, kind, name, decision)


def _is_dominated(resource: Resource, denied: set[Resource]) -> bool:
    """Whether everything that a rule allows is denied by another one."""
    kind, pattern, name = resource
    if pattern is Pattern.LITERAL and resource in denied:
        return True
    return any(Resource(kind, Pattern.PREFIXED, name[:end]) in denied for end in range(1, len(name) + 1))
