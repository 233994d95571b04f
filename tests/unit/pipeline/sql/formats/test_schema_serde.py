"""With the client's own registry in memory: `mock://` and a name."""

import itertools
import json
import pickle
from typing import Any

import pytest
from confluent_kafka.schema_registry import Schema

from moldau.pipeline.serdes.registry import registry_client
from moldau.pipeline.sql.definitions import Format
from moldau.pipeline.sql.formats import row_serde
from moldau.pipeline.sql.formats.registry import SchemaFinder
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.types import BIGINT, DOUBLE, INTEGER, STRING, Array, Column, Map

COLUMNS = (Column("ID", BIGINT), Column("NAME", STRING), Column("TAGS", Map(STRING, INTEGER)))
ROW = (1, "nail", {"a": 1, "b": 2})
FORMATS = ["AVRO", "JSON_SR", "PROTOBUF"]


_numbers = itertools.count(1)


@pytest.fixture
def url() -> str:
    """Of a registry that no other test uses."""
    return f"mock://formats-{next(_numbers)}"


def form(name: str, url: str, **said: str) -> Format:
    return Format(name, (("SCHEMA_REGISTRY_URL", url), *said.items()))


def written(of: Format, columns: tuple[Column, ...], row: Any, topic: str = "t") -> bytes:
    data = row_serde(of, columns, is_key=False).encoder(topic, is_key=False)(row)
    assert data is not None
    return data


def read(of: Format, columns: tuple[Column, ...], data: bytes | None) -> Any:
    return row_serde(of, columns, is_key=False).decoder("t", is_key=False)(data)


@pytest.mark.parametrize("name", FORMATS)
def test_a_row_comes_back_and_its_schema_is_registered(name: str, url: str) -> None:
    data = written(form(name, url), COLUMNS, ROW)
    assert read(form(name, url), COLUMNS, data) == ROW
    schema = SchemaFinder(url).latest("t-value")
    assert schema is not None and schema.id == int.from_bytes(data[1:5], "big")
    assert SchemaFinder(url).latest("other-value") is None


@pytest.mark.parametrize("name", FORMATS)
def test_a_pickled_serde_does_the_same(name: str, url: str) -> None:
    serde = row_serde(form(name, url), COLUMNS, is_key=False)
    again = pickle.loads(pickle.dumps(serde))
    assert again == serde
    assert again.decoder("t", is_key=False)(serde.encoder("t", is_key=False)(ROW)) == ROW


@pytest.mark.parametrize("name", FORMATS)
def test_no_registry_is_configured(name: str) -> None:
    serde = row_serde(Format(name), COLUMNS, is_key=False)
    with pytest.raises(SqlError, match=rf"{name} needs a schema registry[^$]*ksql.schema.registry.url"):
        serde.encoder("t", is_key=False)


@pytest.mark.parametrize("name", FORMATS)
def test_a_record_without_schema_id(name: str, url: str) -> None:
    with pytest.raises(ValueError, match=f"no schema id in front, which the format {name} needs"):
        read(form(name, url), COLUMNS, b'{"ID": 1}')


def register(url: str, subject: str, schema: object, kind: str = "AVRO") -> int:
    text = json.dumps(schema)
    return int(registry_client(url, ()).register_schema(subject, Schema(text, kind)))


def item(*fields: tuple[str, Any]) -> dict[str, Any]:
    return {"type": "record", "name": "Item", "fields": [{"name": name, "type": of} for name, of in fields]}


def test_avro_is_written_with_the_schema_that_the_subject_has(url: str) -> None:
    number = register(url, "t-value", item(("name", "string"), ("id", "long")))
    columns = COLUMNS[:2]
    data = written(form("AVRO", url), columns, (1, "nail"))
    assert int.from_bytes(data[1:5], "big") == number
    assert data[5:] == b"\x08nail\x02"
    assert read(form("AVRO", url), columns, data) == (1, "nail")


def test_avro_with_a_schema_by_its_id(url: str) -> None:
    number = register(url, "elsewhere", item(("id", "long"), ("name", ["null", "string"])))
    of = form("AVRO", url, SCHEMA_ID=str(number))
    assert written(of, COLUMNS[:2], (1, None))[1:] == number.to_bytes(4, "big") + b"\x02\x00"
    with pytest.raises(
        SqlError, match=f"schema {number}: the Avro schema Item has no field for the column TAGS"
    ):
        written(of, COLUMNS, ROW)
    with pytest.raises(SqlError, match="has no schema 4711"):
        written(form("AVRO", url, SCHEMA_ID="4711"), COLUMNS, ROW)


def test_json_sr_takes_the_names_of_the_schema(url: str) -> None:
    properties = {"id": {"type": "integer"}, "name": {"type": "string"}}
    number = register(url, "elsewhere", {"type": "object", "properties": properties}, "JSON")
    data = written(form("JSON_SR", url, SCHEMA_ID=str(number)), COLUMNS[:2], (1, "nail"))
    assert data == b"\x00" + number.to_bytes(4, "big") + b'{"id":1,"name":"nail"}'


def test_a_schema_that_does_not_give_the_columns(url: str) -> None:
    data = written(form("AVRO", url), (Column("ID", STRING),), ("x",))
    with pytest.raises(ValueError, match="AVRO: column ID: Avro's string does not fit BIGINT"):
        read(form("AVRO", url), COLUMNS, data)


def test_an_unknown_schema_and_one_of_another_type(url: str) -> None:
    with pytest.raises(ValueError, match=r"names the schema 99, which .* does not have"):
        read(form("AVRO", url), COLUMNS, b"\0\0\0\0\x63")
    data = written(form("JSON_SR", url), COLUMNS, ROW)
    with pytest.raises(ValueError, match="is JSON, and the format is AVRO"):
        read(form("AVRO", url), COLUMNS, data)


def test_a_record_that_is_cut_short(url: str) -> None:
    data = written(form("AVRO", url), COLUMNS, ROW)
    with pytest.raises(ValueError, match="does not decode as AVRO with the schema"):
        read(form("AVRO", url), COLUMNS, data[:-3])


@pytest.mark.parametrize("name", ["AVRO", "JSON_SR"])
def test_a_key_by_itself(name: str, url: str) -> None:
    serde = row_serde(
        Format(name, (("SCHEMA_REGISTRY_URL", url),), is_wrapped=False), [Column("K", BIGINT)], is_key=True
    )
    data = serde.encoder("t", is_key=True)((5,))
    assert data is not None and data[5:] == (b"\x0a" if name == "AVRO" else b"5")
    assert serde.decoder("t", is_key=True)(data) == (5,)
    assert serde.encoder("t", is_key=True)((None,)) is None
    assert SchemaFinder(url).latest("t-key") is not None


@pytest.mark.parametrize("name", FORMATS)
def test_only_wanted_columns(name: str, url: str) -> None:
    serde = row_serde(form(name, url), COLUMNS, is_key=False, wanted=["NAME"])
    assert serde.decoder("t", is_key=False)(written(form(name, url), COLUMNS, ROW)) == (None, "nail", None)


def test_credentials_are_not_in_the_name(url: str) -> None:
    of = form("AVRO", url, SCHEMA_REGISTRY_BASIC_AUTH_USER_INFO="ann:secret")
    assert "secret" not in row_serde(of, COLUMNS, is_key=False).name


def test_a_field_may_be_nested_and_missing(url: str) -> None:
    number = register(url, "t-value", item(("Prices", {"type": "array", "items": ["null", "float"]})))
    data = b"\0" + number.to_bytes(4, "big") + b"\x04\x02\x00\x00\x80\x3f\x00\x00"
    columns = (Column("PRICES", Array(DOUBLE)), Column("NAME", STRING))
    assert read(form("AVRO", url), columns, data) == ([1.0, None], None)
