"""The records of `perf produce`: random letters, lines of a file, or values generated from a schema."""

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import click
import orjson

from moldau.cli.failures import Failure

LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
MADE_MAX = 10_000
"""Number of distinct records generated before the measurement. After them the records repeat."""
_TYPES = {"avro": "AVRO", "json-schema": "JSON"}
_ENDINGS = {".avsc": "avro", ".json": "json-schema"}


class Payload(NamedTuple):
    key: bytes | None
    value: bytes


def letters(size_bytes: int) -> Sequence[Payload]:
    """Random capital letters like Kafka's tool, compressible to a realistic degree."""
    return [Payload(None, bytes(Random(size_bytes).choices(LETTERS, k=size_bytes)))]


def from_file(path: Path, delimiter: str) -> Sequence[Payload]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Failure(f"cannot read the payloads in {path}: {error.strerror}.") from error
    parts = data.split(delimiter.replace("\\n", "\n").replace("\\t", "\t").encode())
    payloads = [Payload(None, part) for part in parts if part]
    if not payloads:
        raise Failure(f"{path} contains no payload.", "Payloads are separated by --payload-delimiter.")
    return payloads


class SchemaLoad(NamedTuple):
    """The options for generated records."""

    topic: str
    schema: str
    value_format: str | None
    as_json: bool
    key_field: str | None
    registry_url: str | None
    timeout_s: float

    def payloads(self, count: int) -> Sequence[Payload]:
        form = self.value_format or _ENDINGS.get(Path(self.schema).suffix if self._is_file else "", "avro")
        values, encode = self._plain(form) if self.as_json else self._framed(form)
        made = []
        for _ in range(min(count, MADE_MAX)):
            value = values()
            try:
                made.append(Payload(self._key(value), encode(orjson.dumps(value))))
            except ValueError as error:
                raise Failure(
                    f"a value generated for {self.schema} does not match it: {error}.",
                    "Add `examples` or an `enum` to the field; not every keyword is supported.",
                ) from error
        return made

    @property
    def _is_file(self) -> bool:
        return self.schema.startswith("@")

    def _plain(self, form: str) -> tuple[Callable[[], Any], Callable[[bytes], bytes]]:
        if not self._is_file:
            raise click.UsageError("--as-json works without a registry: pass the schema as @FILE.")
        from moldau.registry.schemas import InvalidSchema, parse

        path = Path(self.schema[1:])
        try:
            text = path.read_text(encoding="utf-8")
            return _values(parse(_TYPES[form], text, {}, strict=False), text, self.schema), bytes
        except (OSError, UnicodeDecodeError) as error:
            raise click.UsageError(f"Cannot read the schema in {path}: {error}.") from error
        except InvalidSchema as error:
            raise Failure(f"{path} is not a valid {form} schema: {error}") from error

    def _framed(self, form: str) -> tuple[Callable[[], Any], Callable[[bytes], bytes]]:
        from moldau.cli.formats import codecs
        from moldau.cli.formats.registered import Schemas
        from moldau.cli.registry_options import locate_registry

        profile = click.get_current_context().params.get("profile")
        schemas = Schemas(locate_registry(self.registry_url, profile), self.timeout_s)
        chosen = schemas.chosen(self.schema, form, f"{self.topic}-value")
        return (
            _values(chosen.parsed, chosen.text, self.schema),
            codecs.encoder(schemas, chosen, self.topic, "value", None),
        )

    def _key(self, value: Any) -> bytes | None:
        if self.key_field is None:
            return None
        if not isinstance(value, dict) or self.key_field not in value:
            raise click.UsageError(f"--key-field: the schema has no field '{self.key_field}'.")
        key = value[self.key_field]
        return key.encode() if isinstance(key, str) else orjson.dumps(key)


def _values(parsed: Any, text: str, told: str) -> Callable[[], Any]:
    from moldau.cli.commands.perf.avro_values import AvroValues
    from moldau.cli.commands.perf.json_values import JsonValues, Unmakeable
    from moldau.registry.schemas.avro.schema import AvroSchema

    if isinstance(parsed, AvroSchema):
        return AvroValues(parsed.root).make
    made = JsonValues(orjson.loads(text))

    def make() -> Any:
        try:
            return made.make()
        except Unmakeable as error:
            raise Failure(f"cannot generate records for {told}: {error}.") from error

    return make
