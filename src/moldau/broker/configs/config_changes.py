"""Applies the changes of a request to the present settings. Pure.

Example: `cleanup.policy` is `delete` by default; after APPEND `compact` it is `delete,compact`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.core.settings.text_form import ConfigType, parse_list
from moldau.core.settings.view import SettingsView


class AlterOp(IntEnum):
    """The operation codes of IncrementalAlterConfigs (KIP-339)."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class Change(NamedTuple):
    name: str
    op: int
    value: str | None


def apply_changes(
    view: type[SettingsView],
    present: Mapping[str, str],
    changes: Sequence[Change],
    in_force: Callable[[str], str | None],
) -> dict[str, str]:
    """The settings after the changes. `in_force` gives the value of a list that is not set here."""
    check_distinct(change.name for change in changes)
    texts = dict(present)
    for name, op, value in changes:
        if op == AlterOp.DELETE:
            texts.pop(name, None)
            continue
        if value is None:
            raise ApiError(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {name}")
        if op == AlterOp.SET:
            texts[name] = value
        elif op in (AlterOp.APPEND, AlterOp.SUBTRACT):
            operation = AlterOp(op)
            key = view.KEYS.get(name)
            if key is None or key.type is not ConfigType.LIST:
                raise ApiError(
                    ErrorCode.INVALID_CONFIG,
                    f"Can't {operation.name} to key {name} because its type is not LIST.",
                )
            base = texts[name] if name in texts else in_force(name)
            texts[name] = _edit_list(base or "", operation, value)
        else:
            raise ApiError(ErrorCode.INVALID_REQUEST, f"Unknown operation {op} for key {name}")
    return texts


def replace_all(values: Sequence[tuple[str, str | None]]) -> dict[str, str]:
    """AlterConfigs: a key that is not named returns to its default."""
    check_distinct(name for name, _ in values)
    texts = {}
    for name, value in values:
        if value is None:
            raise ApiError(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {name}")
        texts[name] = value
    return texts


def check_distinct(names: Iterable[str]) -> None:
    listed = list(names)
    if len(set(listed)) < len(listed):
        raise ApiError(ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys")


def _edit_list(base: str, op: AlterOp, value: str) -> str:
    items = dict.fromkeys(parse_list(base))
    for item in parse_list(value):
        if op is AlterOp.APPEND:
            items[item] = None
        else:
            items.pop(item, None)
    return ",".join(items)
