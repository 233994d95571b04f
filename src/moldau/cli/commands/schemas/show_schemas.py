"""`moldau schemas list` and `show`."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

import click

from moldau.cli.client.registry_http import RegistryHttp
from moldau.cli.registry_options import on_registry
from moldau.cli.render.output import (
    about,
    columns,
    document_option,
    output_option,
    print_data,
    print_json,
)
from moldau.cli.render.schema_text import laid_out


@click.command("list")
@click.argument("pattern", default="*")
@click.option("--deleted", is_flag=True, help="Include deleted subjects.")
@output_option
@on_registry
def list_schemas(registry: RegistryHttp, pattern: str, deleted: bool, output: str) -> None:
    """List subjects with their latest version. PATTERN selects by name (`orders-*`)."""
    found = [
        schema
        for schema in registry.all_schemas(latest_only=True, deleted=deleted)
        if fnmatchcase(schema["subject"], pattern)
    ]
    rows = [
        (schema["subject"], schema["version"], schema["id"], schema.get("schemaType", "AVRO"))
        for schema in found
    ]
    if output != "table":
        print_data(
            output, [dict(zip(("subject", "version", "id", "type"), row, strict=True)) for row in rows]
        )
    elif rows:
        click.echo(columns(("SUBJECT", "VERSION", "ID", "TYPE"), rows))
    else:
        click.echo("No schemas." if pattern == "*" else f"No subject matches '{pattern}'.", err=True)


@click.command("show")
@click.argument("subject", required=False)
@click.option("--version", default="latest", show_default=True, help="A version number, or latest.")
@click.option(
    "--id", "schema_id", type=click.IntRange(min=0), help="Select the schema by id instead of SUBJECT."
)
@click.option("--text", "only_text", is_flag=True, help="Print only the text of the schema, as stored.")
@document_option
@on_registry
def show(
    registry: RegistryHttp,
    subject: str | None,
    version: str,
    schema_id: int | None,
    only_text: bool,
    output: str,
) -> None:
    """Show the schema of SUBJECT, or the schema with --id."""
    if (subject is None) == (schema_id is None):
        raise click.UsageError("Pass either SUBJECT or --id.")
    if subject is not None:
        schema = registry.get(
            "subjects", subject, "versions", version, doing=f"show version {version} of '{subject}'"
        )
        uses: list[dict[str, Any]] = []
    else:
        doing = f"show the schema with id {schema_id}"
        schema = {"id": schema_id, **registry.get("schemas", "ids", schema_id or 0, doing=doing)}
        uses = registry.get("schemas", "ids", schema_id or 0, "versions", doing=doing)
    schema.setdefault("schemaType", "AVRO")
    if only_text:
        click.echo(schema["schema"])
    elif output == "json":
        print_json({**schema, "uses": uses} if uses else schema)
    else:
        click.echo(_described(schema, uses))


def _described(schema: dict[str, Any], uses: Sequence[dict[str, Any]]) -> str:
    facts = [
        (name, str(schema[field]))
        for name, field in (
            ("subject", "subject"),
            ("version", "version"),
            ("id", "id"),
            ("type", "schemaType"),
        )
        if field in schema
    ]
    facts += [("used by", f"{use['subject']} version {use['version']}") for use in uses]
    facts += [
        ("reference", f"{item['name']} = {item['subject']} version {item['version']}")
        for item in schema.get("references", ())
    ]
    properties = (schema.get("metadata") or {}).get("properties", {})
    facts += [("metadata", f"{key}={value}") for key, value in properties.items()]
    return f"{about(facts)}\n\n{laid_out(schema['schema'], schema['schemaType'])}"
