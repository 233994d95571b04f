"""`moldau schemas`: list, show, register, check, evolve, delete, config, export, import."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

import click

from moldau.cli.client.registry_http import (
    SUBJECT_NOT_FOUND,
    VERSION_NOT_FOUND,
    Refused,
    RegistryHttp,
    on_registry,
)
from moldau.cli.commands.schemas.schema_config import show_config
from moldau.cli.commands.schemas.schema_transfer import export_schemas, import_schemas
from moldau.cli.confirmation import confirm
from moldau.cli.failures import Failure
from moldau.cli.formats.schema_files import schema_body, schema_options
from moldau.cli.render.output import (
    about,
    columns,
    counted,
    document_option,
    output_option,
    print_data,
    print_json,
)
from moldau.cli.render.schema_text import WHO_FIRST, diff, laid_out, refusal

EXIT_INCOMPATIBLE = 1


@click.group("schemas")
def command() -> None:
    """Schemas of any registry that speaks Confluent's REST API."""


@command.command("list")
@click.argument("pattern", default="*")
@click.option("--deleted", is_flag=True, help="Deleted subjects too.")
@output_option
@on_registry
def list_schemas(registry: RegistryHttp, pattern: str, deleted: bool, output: str) -> None:
    """List the subjects with their latest version, or those whose name matches PATTERN (`orders-*`)."""
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


@command.command("show")
@click.argument("subject", required=False)
@click.option("--version", default="latest", show_default=True, help="A number, or latest.")
@click.option("--id", "schema_id", type=click.IntRange(min=0), help="By id instead of by subject.")
@click.option("--text", "only_text", is_flag=True, help="Only the schema, as it is stored.")
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
    """Show one schema: of SUBJECT, or with --id."""
    if (subject is None) == (schema_id is None):
        raise click.UsageError("Name a SUBJECT, or pass --id.")
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


@command.command("register")
@click.argument("subject")
@schema_options
@document_option
@on_registry
def register(
    registry: RegistryHttp,
    subject: str,
    file: str,
    schema_type: str | None,
    name: str | None,
    references: Sequence[dict[str, Any]],
    normalize: bool,
    output: str,
) -> int:
    """Register the schema in FILE (- for standard input) as a new version of SUBJECT."""
    return _register(registry, subject, schema_body(file, schema_type, references, name), normalize, output)


def _register(
    registry: RegistryHttp, subject: str, body: dict[str, Any], normalize: bool, output: str
) -> int:
    doing = f"register the schema under '{subject}'"
    try:
        answer = registry.post("subjects", subject, "versions", body=body, doing=doing, normalize=normalize)
    except Refused as refused:
        if refused.error_code // 100 != 409 and refused.error_code != 409:
            raise
        _show_refusal(registry, subject, body, refused.clashes, [refused.words], output)
        return EXIT_INCOMPATIBLE
    stored = registry.post("subjects", subject, body=body, doing=doing, normalize=normalize)
    if output == "json":
        print_json({"subject": subject, "version": stored["version"], "id": answer["id"]})
    else:
        click.echo(f"'{subject}' has it as version {stored['version']}, with id {answer['id']}.")
    return 0


@command.command("check")
@click.argument("subject")
@schema_options
@click.option("--version", help="Against this version alone; left out: as the subject's compatibility asks.")
@document_option
@on_registry
def check(
    registry: RegistryHttp,
    subject: str,
    file: str,
    schema_type: str | None,
    name: str | None,
    references: Sequence[dict[str, Any]],
    normalize: bool,
    version: str | None,
    output: str,
) -> int:
    """Say whether the schema in FILE may become the next version of SUBJECT. Exit code 1: it may not."""
    body = schema_body(file, schema_type, references, name)
    answer = _checked(registry, subject, body, normalize, version)
    if answer["is_compatible"]:
        if output == "json":
            print_json({"subject": subject, **answer})
        else:
            click.echo(f"Compatible: it can be registered under '{subject}'.")
        return 0
    _show_refusal(registry, subject, body, answer.get("clashes", []), answer.get("messages", []), output)
    return EXIT_INCOMPATIBLE


def _checked(
    registry: RegistryHttp, subject: str, body: dict[str, Any], normalize: bool, version: str | None
) -> dict[str, Any]:
    path = ("compatibility", "subjects", subject, "versions", *([version] if version else []))
    answer: dict[str, Any] = registry.post(
        *path, body=body, doing=f"check the schema against '{subject}'", verbose=True, normalize=normalize
    )
    return answer


@command.command("evolve")
@click.argument("subject")
@schema_options
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@document_option
@on_registry
def evolve(
    registry: RegistryHttp,
    subject: str,
    file: str,
    schema_type: str | None,
    name: str | None,
    references: Sequence[dict[str, Any]],
    normalize: bool,
    yes: bool,
    output: str,
) -> int:
    """Show what the schema in FILE changes, who must upgrade first, and register it when it is compatible."""
    body = schema_body(file, schema_type, references, name)
    answer = _checked(registry, subject, body, normalize, None)
    if not answer["is_compatible"]:
        _show_refusal(registry, subject, body, answer.get("clashes", []), answer.get("messages", []), output)
        return EXIT_INCOMPATIBLE
    latest = _latest(registry, subject)
    if output != "json" and latest is not None:
        changes = _changes(latest, body)
        click.echo(changes or "Nothing changes but the layout.")
        config = registry.get(
            "config", subject, doing=f"read the configuration of '{subject}'", defaultToGlobal=True
        )
        click.echo(f"\n{WHO_FIRST.get(config['compatibilityLevel'], config['compatibilityLevel'])}")
    if latest is not None and not yes:
        confirm(f"Register it as the next version of '{subject}'?", "nothing was registered.")
    return _register(registry, subject, body, normalize, output)


@command.command("delete")
@click.argument("subject")
@click.option("--version", help="Only this version: a number, or latest.")
@click.option("--permanent", is_flag=True, help="For good. It must have been deleted without this first.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@on_registry
def delete(registry: RegistryHttp, subject: str, version: str | None, permanent: bool, yes: bool) -> None:
    """Delete SUBJECT, or one version of it. Data written with it can still be read until --permanent."""
    what = f"version {version} of '{subject}'" if version else f"'{subject}'"
    if not yes:
        consequence = " for good: data written with it can no longer be read" if permanent else ""
        confirm(f"Delete {what}{consequence}?", "nothing was deleted.")
    path = ("subjects", subject, *(["versions", version] if version else []))
    answer = registry.delete(*path, doing=f"delete {what}", permanent=permanent)
    gone = [answer] if isinstance(answer, int) else answer
    ending = "for good." if permanent else "; --permanent makes it final."
    click.echo(
        f"Deleted {counted(len(gone), 'version')} of '{subject}' ({', '.join(map(str, gone))})"
        f"{' ' if permanent else ''}{ending}"
    )


command.add_command(show_config)
command.add_command(export_schemas)
command.add_command(import_schemas)


def _latest(registry: RegistryHttp, subject: str) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = registry.get(
            "subjects", subject, "versions", "latest", doing=f"read '{subject}'"
        )
    except Refused as refused:
        if refused.error_code in (SUBJECT_NOT_FOUND, VERSION_NOT_FOUND):
            return None
        raise
    return found


def _changes(latest: dict[str, Any], body: dict[str, Any]) -> str:
    name = f"{latest['subject']} version {latest['version']}"
    return diff(latest["schema"], body["schema"], body["schemaType"], name, "the new schema")


def _show_refusal(
    registry: RegistryHttp,
    subject: str,
    body: dict[str, Any],
    clashes: Sequence[dict[str, Any]],
    messages: Sequence[str],
    output: str,
) -> None:
    if output == "json":
        print_json(
            {"subject": subject, "is_compatible": False, "messages": list(messages), "clashes": list(clashes)}
        )
        return
    versions = {clash.get("version") for clash in clashes}
    version = str(max((each for each in versions if isinstance(each, int)), default="latest"))
    try:
        against = registry.get("subjects", subject, "versions", version, doing=f"read '{subject}'")
        click.echo(_changes(against, body), err=True)
    except Failure:
        pass  # What is refused may be the text itself; then there is nothing to compare.
    click.echo(f"\nRefused by '{subject}':\n{refusal(clashes, messages)}", err=True)
