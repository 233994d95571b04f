"""The same bytes and values as fastavro, which is general."""

import io
import random
from collections.abc import Callable, Mapping
from typing import Any, Final

import fastavro
import pytest

from moldau.pipeline.sql.formats.avro.flat import flat_decoder, flat_encoder
from moldau.pipeline.sql.formats.avro.rows import FAILURES

VALUES: Final[Mapping[str, Callable[[random.Random], Any]]] = {
    "boolean": lambda chance: chance.random() < 0.5,
    "int": lambda chance: chance.choice([0, -1, 63, 64, -64, -65, 2**31 - 1, -(2**31)]),
    "long": lambda chance: chance.choice([0, 2**63 - 1, -(2**63), 8191, 8192, chance.getrandbits(40)]),
    "double": lambda chance: chance.random(),
    "float": lambda chance: chance.choice([0.5, -2.0]),
    "bytes": lambda chance: chance.randbytes(chance.randrange(200)),
    "string": lambda chance: "ž" * chance.randrange(100),
}


def shapes(kind: str) -> list[Any]:
    return [kind, ["null", kind], [kind, "null"], {"type": kind}]


@pytest.mark.parametrize("seed", range(50))
def test_as_fastavro(seed: int) -> None:
    chance = random.Random(seed)
    kinds = [chance.choice(list(VALUES)) for _ in range(chance.randrange(8))]
    shown = [chance.choice(shapes(kind)) for kind in kinds]
    fields = [{"name": f"f{index}", "type": shape} for index, shape in enumerate(shown)]
    schema = fastavro.parse_schema({"type": "record", "name": "R", "fields": fields})
    decode, encode = flat_decoder(schema), flat_encoder(schema)
    assert decode is not None and encode is not None
    for _ in range(5):
        row = {
            f"f{index}": None if isinstance(shape, list) and chance.random() < 0.3 else VALUES[kind](chance)
            for index, (kind, shape) in enumerate(zip(kinds, shown, strict=True))
        }
        out = io.BytesIO()
        fastavro.schemaless_writer(out, schema, row)
        data = out.getvalue()
        assert encode(b"front", row) == b"front" + data
        assert decode(b"front" + data, 5) == row
        for size in range(min(len(data), 40)):
            with pytest.raises(FAILURES):
                decode(data[:size], 0)


@pytest.mark.parametrize(
    ("kind", "value"),
    [("int", 2**31), ("long", 2**63), ("boolean", None), ("string", None), ("long", "x"), ("double", "x")],
)
def test_what_cannot_be_written(kind: str, value: object) -> None:
    encode = flat_encoder({"type": "record", "name": "R", "fields": [{"name": "a", "type": kind}]})
    assert encode is not None
    with pytest.raises(FAILURES):
        encode(b"", {"a": value})


@pytest.mark.parametrize("data", [b"\xff" * 20, b"\x03abc", b"\x04"])
def test_what_is_no_text(data: bytes) -> None:
    decode = flat_decoder({"type": "record", "name": "R", "fields": [{"name": "a", "type": "string"}]})
    assert decode is not None
    with pytest.raises(FAILURES):
        decode(data, 0)


@pytest.mark.parametrize("kind", ["long", {"type": "array", "items": "int"}, ["null", "int", "string"]])
def test_other_schemas_are_left_to_the_general_codec(kind: Any) -> None:
    schema = {"type": "record", "name": "R", "fields": [{"name": "a", "type": kind}]}
    assert (flat_decoder(schema) is None) == (flat_encoder(schema) is None) == (kind != "long")
    assert flat_decoder(kind) is None
