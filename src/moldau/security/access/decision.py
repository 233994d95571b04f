"""A decision about access, and the line that the authorizer's log has for it, in Kafka's wording."""

from typing import Final, NamedTuple

from moldau.security.access.hosts import host_text
from moldau.security.access.model import Caller, Operation, ResourceKind, Rule
from moldau.security.access.rule_words import pascal_case

_CONTROL_CHARACTERS: Final = {
    code: f"\\u{code:04x}" for code in (*range(32), *range(127, 160), 0x2028, 0x2029)
}
"""Names come from clients: one must not be able to write a line of its own into the log."""


class Decision(NamedTuple):
    is_allowed: bool
    rule: Rule | None
    """The rule that decides; None: there is none."""
    otherwise: str = ""
    """What decides if no rule does, in Kafka's words."""

    @property
    def reason(self) -> str:
        """What decides, in Kafka's words."""
        return self.otherwise if self.rule is None else matching_rule(self.rule)


def log_line(caller: Caller, operation: Operation, kind: ResourceKind, name: str, decision: Decision) -> str:
    line = (
        f"Principal = {caller.principal} is {'Allowed' if decision.is_allowed else 'Denied'} "
        f"operation = {operation.name} from host = {host_text(caller.host)} "
        f"on resource = {pascal_case(kind)}:LITERAL:{name} for request = {caller.request} "
        f"with resourceRefCount = 1 based on rule {decision.reason}"
    )
    return line.translate(_CONTROL_CHARACTERS)


def matching_rule(rule: Rule) -> str:
    return (
        f"MatchingAcl(acl=StandardAcl[resourceType={rule.kind.name}, resourceName={rule.name}, "
        f"patternType={rule.pattern.name}, principal={rule.principal}, host={rule.host}, "
        f"operation={rule.operation.name}, permissionType={rule.permission.name}])"
    )
