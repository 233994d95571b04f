"""The format and schema options of `produce` and `consume`."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import click

from moldau.cli.failures import Failure
from moldau.cli.formats import plain
from moldau.cli.formats.record_input import Outgoing
from moldau.cli.registry_options import locate_registry, registry_option
from moldau.cli.render.record_output import Record

REGISTRY_FORMATS = ("avro", "protobuf", "json-schema")
FORMATS = (*REGISTRY_FORMATS, *plain.FORMATS)
SCHEMA_HELP = "@FILE, id:N, SUBJECT or SUBJECT:VERSION; #MESSAGE selects a Protobuf message."
CommandFunction = TypeVar("CommandFunction", bound=Callable[..., Any])


def format_options(function: CommandFunction) -> CommandFunction:
    for option in (
        registry_option,
        click.option(
            "--key-schema", metavar="SCHEMA", help=f"{SCHEMA_HELP} Default: the latest of TOPIC-key."
        ),
        click.option(
            "--key-format",
            type=click.Choice(FORMATS),
            help="The format of keys in the topic. Keys are shown and entered as text or JSON.",
        ),
        click.option(
            "--value-schema", metavar="SCHEMA", help=f"{SCHEMA_HELP} Default: the latest of TOPIC-value."
        ),
        click.option(
            "--value-format",
            type=click.Choice(FORMATS),
            help="The format of values in the topic. Values are shown and entered as text or JSON.",
        ),
    ):
        function = option(function)
    return function


@dataclass(frozen=True)
class Formats:
    """The formats requested. Registry clients are imported only if needed."""

    topic: str
    key_format: str | None
    key_schema: str | None
    value_format: str | None
    value_schema: str | None
    registry_url: str | None
    timeout_s: float

    def __post_init__(self) -> None:
        for name, form, schema in self._sides():
            if schema is not None and form not in REGISTRY_FORMATS:
                forms = ", ".join(REGISTRY_FORMATS)
                raise click.UsageError(f"--{name}-schema requires --{name}-format: {forms}.")

    def _sides(self) -> Sequence[tuple[str, str | None, str | None]]:
        return (("key", self.key_format, self.key_schema), ("value", self.value_format, self.value_schema))

    def encoded(self, records: Iterable[Outgoing]) -> Iterator[Outgoing]:
        """Encodes keys and values. A mismatch raises Failure."""
        if self.key_format is None and self.value_format is None:
            yield from records
            return
        encoders = {name: self._encoder(name, form, schema) for name, form, schema in self._sides() if form}
        for number, record in enumerate(records, start=1):
            made: dict[str, Any] = {}
            for name, encode in encoders.items():
                data = getattr(record, name)
                if data is None:
                    continue
                try:
                    made[name] = encode(data)
                except ValueError as error:
                    raise Failure(
                        f"the {name} of record {number} cannot be written as {self._form(name)}: {error}.",
                        "The records before it were sent, the others were not.",
                    ) from error
            yield record._replace(**made)

    def _form(self, name: str) -> str | None:
        return self.key_format if name == "key" else self.value_format

    def _encoder(self, name: str, form: str, told: str | None) -> Callable[[bytes], bytes]:
        if form in plain.FORMATS:
            return plain.encoder(form)
        from moldau.cli.formats import codecs

        schemas = self._schemas
        told, _, message = (told or "").partition("#")
        chosen = schemas.chosen(told or None, form, f"{self.topic}-{name}")
        try:
            return codecs.encoder(schemas, chosen, self.topic, name, message or None)
        except ValueError as error:
            raise click.UsageError(f"Cannot use schema {chosen.id}: {error}.") from error

    def decoded(self, undecodable: str) -> Callable[[Record], Record | None]:
        """Decodes keys and values to text. The function returns None to skip a record."""
        if self.key_format is None and self.value_format is None:
            return lambda record: record
        decoders = {name: self._decoder(name, form, told) for name, form, told in self._sides() if form}

        def decode(record: Record) -> Record | None:
            made: dict[str, Any] = {}
            for name, read in decoders.items():
                data = getattr(record, name)
                if data is None:
                    continue
                try:
                    made[name] = read(data, list(record.headers))
                except plain.Undecodable as error:
                    if not _show_raw(record, name, error, undecodable):
                        return None
            return record._replace(**made)

        return decode

    def _decoder(self, name: str, form: str, told: str | None) -> Callable[[bytes, Any], bytes]:
        if form in plain.FORMATS:
            return plain.decoder(form)
        from moldau.cli.formats import codecs

        schemas = self._schemas
        reader = schemas.chosen(told, form, f"{self.topic}-{name}") if told else None
        if reader is not None and form == "protobuf":
            raise click.UsageError(
                f"--{name}-schema is for writing only: Protobuf is read with the schema it was written with."
            )
        return codecs.decoder(schemas, form, self.topic, name, reader)

    @cached_property
    def _schemas(self) -> Any:
        from moldau.cli.formats.registered import Schemas

        profile = click.get_current_context().params.get("profile")
        return Schemas(locate_registry(self.registry_url, profile), self.timeout_s)


def _show_raw(record: Record, name: str, error: Exception, undecodable: str) -> bool:
    """Returns whether to show the raw bytes (True) or skip the record (False), or raises Failure."""
    words = f"the {name} at offset {record.offset} of partition {record.partition} {error}"
    if undecodable == "fail":
        raise Failure(
            f"{words}.",
            f"Omit --{name}-format to read raw bytes, or pass --undecodable skip or raw to continue.",
        )
    click.echo(f"{words[0].upper()}{words[1:]}.", err=True)
    return undecodable == "raw"
