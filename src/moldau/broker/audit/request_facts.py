"""What a request says, as plain data without secrets, and what went wrong, from its answer. Pure."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import IntEnum
from typing import Any, Final

from moldau.core.error_codes import ErrorCode
from moldau.core.ids import TopicId, topic_id_text
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.resource_keys import ClientMetricsSettings, GroupSettings
from moldau.core.settings.topic_keys import TopicSettings
from moldau.security.access.model import Operation, Pattern, Permission, ResourceKind
from moldau.security.audit.audit_events import TEXT_SIZE_MAX

AUDITED: Final = frozenset(
    {
        "AlterClientQuotas", "AlterConfigs", "AlterPartitionReassignments", "AlterReplicaLogDirs",
        "AlterUserScramCredentials", "CreateAcls", "CreateDelegationToken", "CreatePartitions", "CreateTopics",
        "DeleteAcls", "DeleteGroups", "DeleteRecords", "DeleteTopics", "ElectLeaders", "ExpireDelegationToken",
        "IncrementalAlterConfigs", "OffsetDelete", "RenewDelegationToken",
    }
)  # fmt: skip
"""The requests that change what everybody sees, and not only records and offsets."""
ITEMS_MAX: Final = 100
HIDDEN: Final = "(hidden)"
_VIEWS: Final = (TopicSettings, BrokerSettings, GroupSettings, ClientMetricsSettings)
_TOPIC_ID: Final = "topic_id"
_NAMING: Final = (
    "name", "topic", "resource_name", "resource", "user", "group_id", "partition", "partition_index",
)  # fmt: skip
_ACL_WORDS: Final[Mapping[str, type[IntEnum]]] = {
    "resource_type": ResourceKind,
    "resource_type_filter": ResourceKind,
    "resource_pattern_type": Pattern,
    "pattern_type": Pattern,
    "pattern_type_filter": Pattern,
    "operation": Operation,
    "permission_type": Permission,
}


def is_rehearsal(request: object) -> bool:
    """Whether it only asks whether a change would be valid."""
    return bool(getattr(request, "validate_only", False))


def details_of(name: str, request: object) -> object:
    return _plain(request, _ACL_WORDS if name in ("CreateAcls", "DeleteAcls") else {})


def outcome_of(name: str, answer: object) -> object | None:
    """What only the answer knows: which rules a filter has removed."""
    if name != "DeleteAcls":
        return None
    results: Any = getattr(answer, "filter_results", ())
    return _plain([rule for each in results for rule in each.matching_acls], _ACL_WORDS)


def errors_in(answer: object) -> list[dict[str, object]]:
    """What failed, with the names that the answer gives it. Empty if nothing did."""
    found: list[dict[str, object]] = []
    _collect_errors(answer, found)
    return found[:ITEMS_MAX]


def _collect_errors(part: object, found: list[dict[str, object]]) -> None:
    if isinstance(part, list | tuple):
        for each in part:
            _collect_errors(each, found)
    elif is_dataclass(part):
        code = getattr(part, "error_code", 0)
        if code:
            named = {
                name: getattr(part, name)
                for name in _NAMING
                if isinstance(getattr(part, name, None), str | int)
            }
            message = getattr(part, "error_message", None)
            found.append({**named, "error": _error_name(code), "message": message})
        for field in fields(part):
            _collect_errors(getattr(part, field.name), found)


def _error_name(code: int) -> str:
    return ErrorCode(code).name if code in ErrorCode._value2member_map_ else str(code)


def _plain(part: object, words: Mapping[str, type[IntEnum]]) -> object:
    if isinstance(part, list | tuple):
        items = [_plain(each, words) for each in part[:ITEMS_MAX]]
        return items if len(part) <= ITEMS_MAX else [*items, f"and {len(part) - ITEMS_MAX} more"]
    if is_dataclass(part):
        values = {field.name: getattr(part, field.name) for field in fields(part)}
        return {name: _field(name, value, values, words) for name, value in values.items()}
    if isinstance(part, str):
        return part[:TEXT_SIZE_MAX]
    if isinstance(part, bool | int | float) or part is None:
        return part
    return HIDDEN


def _field(
    name: str, value: object, siblings: Mapping[str, object], words: Mapping[str, type[IntEnum]]
) -> object:
    if name == _TOPIC_ID and isinstance(value, bytes):
        return topic_id_text(TopicId(value))
    if name == "value" and isinstance(siblings.get("name"), str) and value is not None:
        return _plain(value, words) if _is_public(str(siblings["name"])) else HIDDEN
    kind = words.get(name)
    if kind is not None and isinstance(value, int) and value in kind._value2member_map_:
        return kind(value).name
    return _plain(value, words)


def _is_public(setting: str) -> bool:
    """A setting that is not known may be a secret."""
    keys = [view.KEYS[setting] for view in _VIEWS if setting in view.KEYS]
    return bool(keys) and not any(key.sensitive for key in keys)
