"""Schema files: the type from the file name, and references as options."""

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from moldau.cli.failures import Failure
from moldau.registry.schemas import InvalidSchema
from moldau.registry.schemas.avro.idl import SeveralTypes, schema_of

IDL_SUFFIX = ".avdl"
TYPES_BY_SUFFIX = {".avsc": "AVRO", IDL_SUFFIX: "AVRO", ".proto": "PROTOBUF", ".json": "JSON"}
TYPES = ("avro", "json", "protobuf")
SUFFIXES = {"AVRO": ".avsc", "PROTOBUF": ".proto", "JSON": ".json"}
CommandFunction = TypeVar("CommandFunction", bound=Callable[..., Any])
_REFERENCE = re.compile(r"(?P<name>[^=]+)=(?P<subject>.+):(?P<version>\d+)")


class ReferenceOption(click.ParamType[dict[str, Any]]):
    """`name=subject:version`."""

    name = "reference"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, Any]:
        if isinstance(value, dict):
            return value
        match = _REFERENCE.fullmatch(str(value))
        if match is None:
            self.fail(f"'{value}' is not of the form NAME=SUBJECT:VERSION.", param, ctx)
        return {"name": match["name"], "subject": match["subject"], "version": int(match["version"])}


def schema_options(function: CommandFunction) -> CommandFunction:
    """The schema file argument and the options of its registration."""
    for option in (
        click.option("--normalize", is_flag=True, help="Let the registry normalize the schema first."),
        click.option(
            "--reference",
            "references",
            type=ReferenceOption(),
            metavar="NAME=SUBJECT:VERSION",
            multiple=True,
            help="A schema that this one references. Repeatable.",
        ),
        click.option(
            "--type",
            "schema_type",
            type=click.Choice(TYPES, case_sensitive=False),
            help="The type of the schema. Default: by file name (.avsc, .avdl, .json, .proto).",
        ),
        click.option(
            "--name",
            help="The type to use of an Avro IDL file (.avdl). Default: its `schema`, or the type that no other uses.",
        ),
        click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True)),
    ):
        function = option(function)
    return function


def schema_body(
    file: str, schema_type: str | None, references: Sequence[dict[str, Any]], name: str | None = None
) -> dict[str, Any]:
    """The body of a registration request."""
    kind = type_of(file, schema_type)
    return {"schema": read_schema(file, name), "schemaType": kind, "references": list(references)}


def read_schema(file: str, name: str | None = None) -> str:
    """The schema text to register. Avro IDL is converted to JSON."""
    if Path(file).suffix.lower() != IDL_SUFFIX:
        if name is not None:
            raise click.UsageError(f"--name requires an Avro IDL file (.avdl), which '{file}' is not.")
        return _read(file)
    try:
        return schema_of(file, _read, name)
    except InvalidSchema as error:
        hint = "Choose one with --name." if isinstance(error, SeveralTypes) else None
        raise Failure(f"'{file}' cannot be used: {error}", hint) from error


def type_of(file: str, told: str | None) -> str:
    if told is not None:
        return told.upper()
    found = TYPES_BY_SUFFIX.get(Path(file).suffix.lower())
    if found is None:
        raise click.UsageError(
            f"The type of schema '{file}' is unknown: its name does not end with .avsc, .avdl, .json or .proto: "
            "pass --type."
        )
    return found


def _read(file: str) -> str:
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(f"cannot read the schema in '{file}': {error}.") from error
    if not text.strip():
        raise Failure(f"'{file}' is empty.")
    return text
