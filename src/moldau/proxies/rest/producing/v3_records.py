"""One record of v3: from JSON to bytes, and what became of it as JSON. Key and value each name their own format."""

import binascii
from base64 import b64decode
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

from moldau.proxies.rest.failures import RestFailure, bad_request, code_of, unprocessable, words_of
from moldau.proxies.rest.formats.record_names import record_name
from moldau.proxies.rest.formats.schemas import Asked
from moldau.proxies.rest.http.call import as_whole
from moldau.proxies.rest.producing.producer import Record, Written
from moldau.proxies.rest.producing.requests import find_writer

if TYPE_CHECKING:
    from moldau.proxies.rest.proxy import Proxy

FIELDS: Final = frozenset({"partition_id", "headers", "key", "value", "timestamp"})
DATA_FIELDS: Final = frozenset(
    {"type", "subject", "subject_name_strategy", "schema_id", "schema_version", "schema", "data"}
)
OF_SCHEMA: Final = {"AVRO": "avro", "JSONSCHEMA": "jsonschema", "PROTOBUF": "protobuf"}
STRATEGIES: Final = (None, "TOPIC_NAME", "RECORD_NAME", "TOPIC_RECORD_NAME")
"""How the subject of a schema is named. With an id the subject is of no account."""
INT_MAX: Final = (1 << 31) - 1
HEADERS_MAX: Final = 1_000
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
OK: Final = 200
Json = dict[str, Any]


class Part(NamedTuple):
    """A key or a value: its bytes, and what the answer says of it."""

    data: bytes | None
    said: Json | None


NOTHING: Final = Part(None, None)


class Encoded(NamedTuple):
    """A record that can be written."""

    record: Record
    key: Json | None
    value: Json | None


async def encode(proxy: "Proxy", topic: str, given: Any) -> Encoded:
    """Raises RestFailure."""
    if type(given) is not dict:
        raise unprocessable("A record is an object with key, value, headers, partition_id and timestamp.")
    if not given.keys() <= FIELDS:
        unknown = next(name for name in given if name not in FIELDS)
        raise bad_request(f"Unrecognized field: {unknown}. A record has {', '.join(sorted(FIELDS))}.")
    partition = given.get("partition_id")
    if partition is None:
        partition = -1
    elif (partition := as_whole(partition)) is None or not 0 <= partition <= INT_MAX:
        raise bad_request("partition_id is not a number of at least 0.")
    key = _plain(given.get("key"), "key") or await _of_schema(proxy, topic, "key", given["key"])
    value = _plain(given.get("value"), "value") or await _of_schema(proxy, topic, "value", given["value"])
    headers = given.get("headers")
    timestamp = given.get("timestamp")
    record = Record(
        key.data,
        value.data,
        partition,
        0 if timestamp is None else _milliseconds(timestamp),
        _headers(headers) if headers else None,
    )
    return Encoded(record, key.said, value.said)


def answer(cluster_id: str, topic: str, encoded: Encoded, written: Written, **first: Any) -> Json:
    """Confluent's answer for one record, whether it was written or not."""
    if written.error is not None:
        return {**first, "error_code": code_of(written.error), "message": words_of(written.error)}
    said: Json = {
        **first,
        "error_code": OK,
        "cluster_id": cluster_id,
        "topic_name": topic,
        "partition_id": written.partition,
        "offset": written.offset,
        "timestamp": iso(written.timestamp_ms),
    }
    if encoded.key is not None:
        said["key"] = encoded.key
    if encoded.value is not None:
        said["value"] = encoded.value
    return said


@lru_cache(1_000)
def iso(timestamp_ms: int) -> str:
    """Records that are written together often have the same."""
    moment = datetime.fromtimestamp(timestamp_ms / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _plain(given: Any, field: str) -> Part | None:
    """None if it is of a schema."""
    if given is None:
        return NOTHING
    if type(given) is not dict:
        raise bad_request(f"{field} is not an object with type and data.")
    if not given.keys() <= DATA_FIELDS:
        unknown = next(name for name in given if name not in DATA_FIELDS)
        raise bad_request(
            f"Unrecognized field: {unknown} in {field}. It has {', '.join(sorted(DATA_FIELDS))}."
        )
    kind = given.get("type")
    encode = _PLAIN.get(kind) if isinstance(kind, str) else None
    if encode is not None:
        data = encode(given.get("data"), field)
        return Part(data, {"type": kind, "size": len(data or b"")})
    if kind is not None and not (isinstance(kind, str) and kind in OF_SCHEMA):
        known = ", ".join([*_PLAIN, *OF_SCHEMA])
        raise bad_request(f"{field}.type {kind!r} is none of {known}.")
    return None


async def _of_schema(proxy: "Proxy", topic: str, field: str, given: Json) -> Part:
    kind = given.get("type")
    text, schema_id, version = given.get("schema"), given.get("schema_id"), given.get("schema_version")
    if sum(each is not None for each in (text, as_whole(schema_id), as_whole(version))) > 1:
        raise bad_request(f"{field} has more than one of schema, schema_id and schema_version.")
    if text is not None and kind is None:
        raise bad_request(f"{field}.type is missing: with a schema say AVRO, JSONSCHEMA or PROTOBUF.")
    if text is not None and not isinstance(text, str):
        raise bad_request(f"{field}.schema is not a text.")
    for name, number in (("schema_id", schema_id), ("schema_version", version)):
        whole = as_whole(number)
        if number is not None and (whole is None or not 0 <= whole <= INT_MAX):
            raise bad_request(f"{field}.{name} is not a number.")
    asked = Asked(
        _subject(topic, field, given),
        OF_SCHEMA[kind] if kind else None,
        text,
        as_whole(schema_id),
        as_whole(version),
    )
    writer = await find_writer(proxy, asked)
    data = given.get("data")
    encoded = None if data is None else writer.encode(data, f"{field}.data")
    said = {
        "type": next(name for name, own in OF_SCHEMA.items() if own == writer.format),
        "size": len(encoded or b""),
        "subject": writer.subject,
        "schema_id": writer.schema_id,
        "schema_version": writer.version,
    }
    return Part(encoded, said)


def _subject(topic: str, field: str, given: Json) -> str:
    subject, strategy = given.get("subject"), given.get("subject_name_strategy")
    if subject is not None and strategy is not None:
        raise bad_request(f"{field} has both subject and subject_name_strategy.")
    if strategy not in STRATEGIES:
        raise bad_request(
            f"{field}.subject_name_strategy {strategy!r} is none of {', '.join(filter(None, STRATEGIES))}."
        )
    if strategy in ("RECORD_NAME", "TOPIC_RECORD_NAME") and given.get("schema_id") is None:
        if given.get("schema") is None:
            raise bad_request(f"{field}.subject_name_strategy {strategy} needs schema or schema_id.")
        name = record_name(OF_SCHEMA[given["type"]], given["schema"])
        return name if strategy == "RECORD_NAME" else f"{topic}-{name}"
    if subject is None:
        return f"{topic}-{field}"
    if not isinstance(subject, str) or not subject:
        raise bad_request(f"{field}.subject is not a text.")
    return subject


def _json(data: Any, _field: str) -> bytes | None:
    return None if data is None else orjson.dumps(data)


def _binary(data: Any, field: str) -> bytes | None:
    if data is None:
        return None
    try:
        return b64decode(data, validate=True)
    except (binascii.Error, ValueError, TypeError):
        raise bad_request(f"{field}: data={_short(data)} is not a base64 string.") from None


def _string(data: Any, field: str) -> bytes | None:
    if data is None:
        return None
    if not isinstance(data, str):
        raise bad_request(f"{field}: data={_short(data)} is not a string.")
    return data.encode()


_PLAIN: Final = {"JSON": _json, "BINARY": _binary, "STRING": _string}


def _headers(given: Any) -> list[tuple[str, bytes | None]]:
    if not isinstance(given, list) or len(given) > HEADERS_MAX:
        raise bad_request(f"headers is not an array of at most {HEADERS_MAX} objects with name and value.")
    found = []
    for each in given:
        if not isinstance(each, dict) or not isinstance(each.get("name"), str):
            raise bad_request("headers has an entry that is no object with name and value.")
        found.append((each["name"], _binary(each.get("value"), f"header {each['name']}")))
    return found


def _milliseconds(given: Any) -> int:
    try:
        moment = datetime.fromisoformat(given)
    except (TypeError, ValueError):
        raise bad_request(
            f"timestamp={_short(given)} is no time in ISO 8601, for example 2026-01-31T12:00:00Z."
        ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    milliseconds = round((moment - EPOCH).total_seconds() * 1000)
    if milliseconds < 0:
        raise bad_request(f"timestamp={_short(given)} is before 1970.")
    return milliseconds


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def failed(failure: RestFailure, **first: Any) -> Json:
    """The answer for a record that could not even be read."""
    return {**first, "error_code": failure.code, "message": failure.message}
