"""What clients send, checked field by field. Pure."""

from collections.abc import Collection
from typing import Any, Final, NamedTuple

import orjson

from moldau.core.settings.view import nearest_text
from moldau.pipeline.connect.server.failures import bad_request
from moldau.pipeline.connect.server.requests import INITIAL_STATES, Json, OffsetChange
from moldau.pipeline.connect.server.state.config_records import TargetState

CREATE_FIELDS: Final = ("name", "config", "initial_state")
OFFSET_FIELDS: Final = ("offsets",)
CHANGE_FIELDS: Final = ("partition", "offset")


class Creation(NamedTuple):
    name: str
    config: dict[str, str]
    initial: TargetState | None


def read_object(body: bytes) -> Json:
    if not body.strip():
        raise bad_request("The request has no body: send a JSON object")
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise bad_request(f"The body of the request is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise bad_request(
            f"The body of the request must be a JSON object, not {_kind(found)}: {_short(found)}"
        )
    return found


def read_creation(given: Json) -> Creation:
    """Of `POST /connectors`."""
    _require_known(given, CREATE_FIELDS, "a new connector")
    name, config = given.get("name"), given.get("config")
    if name is not None and not isinstance(name, str):
        raise bad_request(f'"name" must be a string, not {_kind(name)}: {_short(name)}')
    if not isinstance(config, dict):
        raise bad_request('"config" is missing: it holds the settings of the connector, as a JSON object')
    texts = read_config(config)
    return Creation((name or texts.get("name", "")).strip(), texts, _initial(given.get("initial_state")))


def read_config(given: Json) -> dict[str, str]:
    """Settings that are null count as not given."""
    return {name: text for name, text in read_changes(given).items() if text is not None}


def read_changes(given: Json) -> dict[str, str | None]:
    """Of `PATCH /connectors/{name}/config`: null removes a setting."""
    return {name: _text(value, name) for name, value in given.items()}


def read_offsets(given: Json) -> list[OffsetChange]:
    _require_known(given, OFFSET_FIELDS, "new offsets")
    found = given.get("offsets")
    if found is None:
        return []
    if not isinstance(found, list):
        raise bad_request(f'"offsets" must be an array, not {_kind(found)}: {_short(found)}')
    return [_change(one, f"offsets[{number}]") for number, one in enumerate(found)]


def _change(given: Any, where: str) -> OffsetChange:
    if not isinstance(given, dict):
        raise bad_request(f'{where} must be an object with "partition" and "offset", not {_kind(given)}')
    _require_known(given, CHANGE_FIELDS, where)
    partition, offset = given.get("partition"), given.get("offset")
    for name, value in (("partition", partition), ("offset", offset)):
        if value is not None and not isinstance(value, dict):
            raise bad_request(f'"{where}.{name}" must be an object, not {_kind(value)}: {_short(value)}')
    return OffsetChange(partition, offset)


def _initial(given: Any) -> TargetState | None:
    if given is None:
        return None
    found = INITIAL_STATES.get(given.upper()) if isinstance(given, str) else None
    if found is None:
        raise bad_request(f'"initial_state" must be one of {", ".join(INITIAL_STATES)}, not {_short(given)}')
    return found


def _require_known(given: Json, known: Collection[str], of: str) -> None:
    for name in given:
        if name not in known:
            raise bad_request(
                f'Unrecognized field "{name}" of {of}{nearest_text(name, known)}; known: {", ".join(known)}'
            )


def _text(value: Any, name: str) -> str | None:
    match value:
        case None | str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
    raise bad_request(
        f'The value of "{name}" must be a string, a number, a boolean or null, not {_kind(value)}: {_short(value)}'
    )


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "an array"
    return "an object"


def _short(value: Any) -> str:
    text = orjson.dumps(value).decode()
    return text if len(text) <= 100 else f"{text[:100]}..."
