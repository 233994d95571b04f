"""Rules and filters as requests carry them: codes, of which some are unknown and some make no sense in a rule."""

from collections.abc import Sequence
from enum import IntEnum
from typing import TypeVar

from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError, PeerError
from moldau.protocol.messages.security.create_acls import AclCreation
from moldau.security.access.authorizer import AllowEverything, Authorizer
from moldau.security.access.model import (
    CLUSTER_NAME,
    Operation,
    Pattern,
    Permission,
    ResourceKind,
    Rule,
    RuleFilter,
)

Word = TypeVar("Word", bound=IntEnum)


def security_disabled(authorizer: Authorizer) -> ApiError | None:
    """Where nothing is forbidden there are no rules to show or to change."""
    if isinstance(authorizer, AllowEverything):
        return ApiError(ErrorCode.SECURITY_DISABLED, "No Authorizer is configured.")
    return None


def read_rules(sent: Sequence[AclCreation]) -> list[Rule | ApiError]:
    """Each rule, or why it is refused. A word that only filters have fails them all, as in Kafka.

    PeerError for codes that no client can send.
    """
    for each in sent:
        _check_codes(each.resource_type, each.resource_pattern_type, each.operation, each.permission_type)
    read = [_read_rule(each) for each in sent]
    of_filters = next((problem for each in read if (problem := _filter_word(each)) is not None), None)
    if of_filters is not None:
        return [ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, of_filters)] * len(read)
    problems = [_rule_problem(each) for each in read]
    return [
        rule if problem is None else ApiError(ErrorCode.INVALID_REQUEST, problem)
        for rule, problem in zip(read, problems, strict=True)
    ]


def _read_rule(sent: AclCreation) -> Rule:
    return Rule(
        _word(ResourceKind, sent.resource_type),
        sent.resource_name,
        _word(Pattern, sent.resource_pattern_type),
        sent.principal,
        sent.host,
        _word(Operation, sent.operation),
        _word(Permission, sent.permission_type),
    )


def _filter_word(rule: Rule) -> str | None:
    if rule.kind is ResourceKind.ANY:
        return "Invalid resourceType ANY"
    if rule.pattern in (Pattern.ANY, Pattern.MATCH):
        return f"Invalid patternType {rule.pattern.name}"
    if rule.operation is Operation.ANY:
        return "Invalid operation ANY"
    if rule.permission is Permission.ANY:
        return "Invalid permissionType ANY"
    return None


def _rule_problem(rule: Rule) -> str | None:
    if rule.kind is ResourceKind.CLUSTER and rule.name != CLUSTER_NAME:
        return f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}"
    if not rule.name:
        return "Invalid empty resource name"
    if rule.kind is ResourceKind.UNKNOWN:
        return "Invalid resourceType UNKNOWN"
    if rule.pattern is Pattern.UNKNOWN:
        return "Invalid patternType UNKNOWN"
    if rule.operation is Operation.UNKNOWN:
        return "Invalid operation UNKNOWN"
    if rule.permission is Permission.UNKNOWN:
        return "Invalid permissionType UNKNOWN"
    if ":" not in rule.principal:
        return (
            f"Could not parse principal from `{rule.principal}` (no colon is present separating the principal type "
            "from the principal name)"
        )
    return None


def read_filter(
    kind: int,
    name: str | None,
    pattern: int,
    principal: str | None,
    host: str | None,
    operation: int,
    permission: int,
) -> RuleFilter:
    _check_codes(kind, pattern, operation, permission)
    return RuleFilter(
        _word(ResourceKind, kind),
        name,
        _word(Pattern, pattern),
        principal,
        host,
        _word(Operation, operation),
        _word(Permission, permission),
    )


def filter_problem(wanted: RuleFilter) -> ApiError | None:
    if wanted.kind is ResourceKind.UNKNOWN or wanted.pattern is Pattern.UNKNOWN:
        return ApiError(ErrorCode.INVALID_REQUEST, "Unknown patternFilter.")
    if wanted.operation is Operation.UNKNOWN or wanted.permission is Permission.UNKNOWN:
        return ApiError(ErrorCode.INVALID_REQUEST, "Unknown entryFilter.")
    return None


def _check_codes(*codes: int) -> None:
    """As Kafka does: a code that is unknown here may come from a newer client, but nobody sends UNKNOWN itself."""
    if 0 in codes:
        raise PeerError("a rule of access, or a filter of rules, has an element UNKNOWN")


def _word(words: type[Word], code: int) -> Word:
    return words(code) if code in words._value2member_map_ else words(0)
