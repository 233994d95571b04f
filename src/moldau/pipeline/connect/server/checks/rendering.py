"""Kafka Connect's JSON of declarations and of validated configurations. Pure."""

from collections.abc import Iterable, Sequence
from typing import Any

from moldau.core.settings.key import ConfigKey
from moldau.core.settings.text_form import format_value
from moldau.pipeline.connect.declarations import ConfigValue, Declaration, Texts
from moldau.pipeline.connect.runtime.url_passwords import hidden_in
from moldau.pipeline.connect.server.checks.validation import Validated

Json = dict[str, Any]
HIDDEN = "[hidden]"


def config_infos(validated: Validated, name: str, defaults: Texts) -> Json:
    """`defaults` are those of the worker, for settings that have none of their own."""
    values = {value.name: value for value in validated.values}
    definitions = config_keys(validated.declarations, defaults)
    known = {definition["name"] for definition in definitions}
    keys = {one.name: one.key for one in validated.declarations}
    configs: list[Json] = [
        {"definition": definition, "value": _value(values[definition["name"]], definition, keys)}
        for definition in definitions
    ]
    # A value without a definition is in the answer only if it is wrong.
    configs += [
        {"definition": None, "value": _value(value, None, keys)}
        for value in validated.values
        if value.name not in known and value.errors
    ]
    return {
        "name": name,
        "error_count": sum(len(value.errors) for value in validated.values),
        "groups": list(dict.fromkeys(one.group for one in validated.declarations)),
        "configs": configs,
    }


def config_keys(declarations: Iterable[Declaration], defaults: Texts | None = None) -> list[Json]:
    orders: dict[str, int] = {}
    found = []
    for one in declarations:
        orders[one.group] = orders.get(one.group, 0) + 1
        found.append(_definition(one, orders[one.group], defaults or {}))
    return found


def invalid_text(errors: Sequence[str]) -> str:
    """What a request that would create or change a connector answers."""
    return (
        f"Connector configuration is invalid and contains the following {len(errors)} error(s):\n"
        + "\n".join(errors)
        + "\nYou can also find the above list of errors at the endpoint "
        "`/connector-plugins/{connectorType}/config/validate`"
    )


def _definition(one: Declaration, order: int, defaults: Texts) -> Json:
    key = one.key
    default = None if one.is_required else defaults.get(one.name, format_value(key.default))
    return {
        "name": one.name,
        "type": key.type.name,
        "required": one.is_required,
        "default_value": default,
        "importance": key.importance.name,
        "documentation": key.documentation,
        "group": one.group,
        "order_in_group": order,
        "width": one.width,
        "display_name": one.display_name or one.name,
        "dependents": list(one.dependents),
    }


def _value(value: ConfigValue, definition: Json | None, keys: dict[str, ConfigKey[Any]]) -> Json:
    shown = value.value
    if shown is None and definition is not None:
        shown = definition["default_value"]
    if shown is not None and value.name in keys and keys[value.name].sensitive:
        shown = HIDDEN
    elif shown is not None:
        shown = hidden_in(shown)
    return {
        "name": value.name,
        "value": shown,
        "recommended_values": value.recommended,
        "errors": value.errors,
        "visible": value.is_visible,
    }
