"""The records of v2 requests: from JSON to bytes, and what became of each as JSON."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import orjson

from moldau.proxies.rest.failures import (
    AUTHENTICATION,
    AUTHORIZATION,
    PARTITION_NOT_FOUND,
    TOPIC_NOT_FOUND,
    check_topic_name,
    code_of,
    partition_not_found,
    schema_missing,
    topic_not_found,
    unprocessable,
    words_of,
)
from moldau.proxies.rest.formats.plain import to_binary, to_json_bytes
from moldau.proxies.rest.formats.schemas import Asked, Writer
from moldau.proxies.rest.http.call import as_whole
from moldau.proxies.rest.producing.producer import Record, Written

if TYPE_CHECKING:
    from moldau.proxies.rest.proxy import Proxy

RECORD_FIELDS: Final = frozenset({"key", "value", "partition"})
PARTITION_MAX: Final = (1 << 31) - 1
Encode = Callable[[Any, str], bytes | None]


class ParsedRecords:
    """The records of one topic, ready to be written."""

    __slots__ = ("key_schema_id", "partition", "records", "topic", "value_schema_id")

    def __init__(self, topic: str, partition: int | None, records: list[Record]) -> None:
        self.topic = topic
        self.partition = partition
        self.records = records
        self.key_schema_id: int | None = None
        self.value_schema_id: int | None = None


async def parse_records(
    proxy: "Proxy", body: dict[str, Any], name: str, topic: str, partition: int | None = None
) -> ParsedRecords:
    """`name` is the format. Raises RestFailure."""
    check_topic_name(topic)
    given = body.get("records")
    if not isinstance(given, list) or not given:
        raise unprocessable(
            "records may not be empty: send an array of objects with value, key and partition."
        )
    _check_schemas(body)
    parsed = ParsedRecords(topic, partition, [])
    encode_key: Encode
    encode_value: Encode
    if name == "json":
        parsed.records = _json_records(given, partition)
        return parsed
    if name == "binary":
        encode_key = encode_value = to_binary
    else:
        key_writer = await _writer(proxy, body, name, topic, "key", given)
        value_writer = await _writer(proxy, body, name, topic, "value", given)
        encode_key, encode_value = _of_schema(key_writer), _of_schema(value_writer)
        parsed.key_schema_id = key_writer.schema_id if key_writer else None
        parsed.value_schema_id = value_writer.schema_id if value_writer else None
    parsed.records = [
        _record(each, index, partition, encode_key, encode_value) for index, each in enumerate(given)
    ]
    return parsed


def _json_records(given: list[Any], partition: int | None) -> list[Record]:
    """As `_record` makes them. Most have nothing but a key and a value, and there may be many."""
    dumps, assigned = orjson.dumps, -1 if partition is None else partition
    records: list[Record] = []
    for each in given:
        if type(each) is dict and len(each) == ("value" in each) + ("key" in each):
            key, value = each.get("key"), each.get("value")
            fields = (
                None if key is None else dumps(key),
                None if value is None else dumps(value),
                assigned,
                0,
                None,
            )
            records.append(tuple.__new__(Record, fields))
        else:
            records.append(_record(each, len(records), partition, _json, _json))
    return records


def _record(
    given: Any, index: int, partition: int | None, encode_key: Encode, encode_value: Encode
) -> Record:
    if type(given) is not dict:
        raise unprocessable(f"records[{index}] is not an object with value, key and partition.")
    key, value, own = given.get("key"), given.get("value"), given.get("partition")
    if len(given) != ("key" in given) + ("value" in given) + ("partition" in given):
        unknown = next(name for name in given if name not in RECORD_FIELDS)
        raise unprocessable(
            f"Unrecognized field: {unknown} in records[{index}]; a record has value, key and partition."
        )
    if own is None:
        own = partition
    elif (type(own) is not int and (own := as_whole(own)) is None) or not 0 <= own <= PARTITION_MAX:
        raise unprocessable(f"records[{index}].partition is not a number of at least 0.")
    return Record(
        None if key is None else encode_key(key, f"records[{index}].key"),
        None if value is None else encode_value(value, f"records[{index}].value"),
        -1 if own is None else own,
    )


def _check_schemas(body: dict[str, Any]) -> None:
    for field in ("key", "value"):
        text, schema_id = body.get(f"{field}_schema"), body.get(f"{field}_schema_id")
        if text is not None and not isinstance(text, str):
            raise unprocessable(
                f"{field}_schema is not a string; the schema is text, with its quotes escaped."
            )
        number = as_whole(schema_id)
        if schema_id is not None and (number is None or not 0 <= number <= PARTITION_MAX):
            raise unprocessable(f"{field}_schema_id is not a number.")


def _json(value: Any, _where: str) -> bytes | None:
    return to_json_bytes(value)


def _of_schema(writer: Writer | None) -> Encode:
    def encode(value: Any, where: str) -> bytes | None:
        assert writer is not None
        return writer.encode(value, where)

    return encode


async def _writer(
    proxy: "Proxy", body: dict[str, Any], name: str, topic: str, field: str, records: Sequence[Any]
) -> Writer | None:
    """None if no record needs it."""
    text, schema_id = body.get(f"{field}_schema"), body.get(f"{field}_schema_id")
    if text is None and schema_id is None:
        if any(isinstance(each, dict) and each.get(field) is not None for each in records):
            raise schema_missing(field)
        return None
    return await find_writer(
        proxy, Asked(f"{topic}-{field}", name, text, None if text is not None else as_whole(schema_id))
    )


async def find_writer(proxy: "Proxy", asked: Asked) -> Writer:
    """Asks the registry on a thread, unless the answer is known."""
    known = proxy.schemas.known_writer(asked)
    if known is not None:
        return known
    return await asyncio.get_running_loop().run_in_executor(
        proxy.threads.registry, proxy.schemas.writer, asked
    )


async def write(proxy: "Proxy", parsed: ParsedRecords) -> list[Written]:
    """Raises RestFailure 404 if there is no such topic or partition."""
    written = await proxy.producer.write(parsed.topic, parsed.records)
    proxy.metrics.produced(written)
    refused = {code_of(each.error) for each in written if each.error is not None}
    if refused and all(each.error is not None for each in written):
        if refused == {TOPIC_NOT_FOUND}:
            raise topic_not_found(parsed.topic)
        if refused == {PARTITION_NOT_FOUND} and parsed.partition is not None:
            raise partition_not_found(parsed.topic, parsed.partition)
    return written


def written_json(parsed: ParsedRecords, written: Sequence[Written], *, text_offsets: bool) -> dict[str, Any]:
    """Confluent's answer to a produce request."""
    return {
        "offsets": [
            {
                "partition": each.partition,
                "offset": str(each.offset) if text_offsets else each.offset,
                "error_code": None,
                "error": None,
            }
            if each.error is None
            else {
                "partition": None,
                "offset": None,
                "error_code": code_of(each.error),
                "error": words_of(each.error),
            }
            for each in written
        ],
        "key_schema_id": parsed.key_schema_id,
        "value_schema_id": parsed.value_schema_id,
    }


def status_of(written: Sequence[Written]) -> int:
    """200 also if single records failed, as Confluent's; 401 and 403 if the proxy may not write."""
    codes = {code_of(each.error) for each in written if each.error is not None}
    return 401 if AUTHENTICATION in codes else 403 if AUTHORIZATION in codes else 200
