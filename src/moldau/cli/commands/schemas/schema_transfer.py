"""`moldau schemas export` and `import`: a whole registry in one JSON file, with ids and versions."""

import sys
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import click
import orjson

from moldau.cli.client.registry_http import Refused, RegistryHttp
from moldau.cli.commands.schemas.schema_config import NOT_CONFIGURED
from moldau.cli.failures import Failure
from moldau.cli.registry_options import on_registry
from moldau.cli.render.output import counted

FORMAT = "moldau-schemas-1"
FIELDS = ("subject", "version", "id", "schemaType", "references", "metadata", "ruleSet", "schema")


@click.command("export")
@click.argument("pattern", default="*")
@click.option(
    "--file", "path", type=click.Path(dir_okay=False), help="The output file. Default: standard output."
)
@on_registry
def export_schemas(registry: RegistryHttp, pattern: str, path: str | None) -> None:
    """Write all versions of subjects and their configurations as JSON. PATTERN selects subjects."""
    found = [
        {field: schema[field] for field in FIELDS if schema.get(field) is not None}
        for schema in registry.all_schemas(latest_only=False)
        if fnmatchcase(schema["subject"], pattern)
    ]
    subjects = sorted({schema["subject"] for schema in found})
    configs = {subject: config for subject in subjects if (config := _own_config(registry, subject))}
    text = orjson.dumps(
        {"format": FORMAT, "configs": configs, "schemas": sorted(found, key=lambda schema: schema["id"])},
        option=orjson.OPT_INDENT_2,
    ).decode()
    if path is None:
        click.echo(text)
        return
    try:
        Path(path).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise Failure(f"cannot write {path}: {error.strerror}.") from error
    click.echo(f"{counted(len(found), 'version')} of {counted(len(subjects), 'subject')} written to {path}.")


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option(
    "--new-ids", is_flag=True, help="Let the registry assign new ids instead of keeping those of the file."
)
@on_registry
def import_schemas(registry: RegistryHttp, file: str, new_ids: bool) -> None:
    """Register all schemas of a file written by `export`. Existing schemas stay unchanged."""
    document = _read(file)
    schemas = sorted(document["schemas"], key=lambda schema: schema["id"])
    subjects = sorted({schema["subject"] for schema in schemas})
    modes = {} if new_ids else {subject: _begin(registry, subject) for subject in subjects}
    try:
        for schema in _after_references(schemas):
            _import_one(registry, schema, new_ids=new_ids)
    finally:
        for subject, mode in modes.items():
            _end(registry, subject, mode)
    for subject, config in document.get("configs", {}).items():
        body = {("compatibility" if name == "compatibilityLevel" else name): config[name] for name in config}
        registry.put("config", subject, body=body, doing=f"set the configuration of '{subject}'")
    click.echo(f"{counted(len(schemas), 'version')} of {counted(len(subjects), 'subject')} imported.")


def _import_one(registry: RegistryHttp, schema: dict[str, Any], *, new_ids: bool) -> None:
    body = {field: schema[field] for field in FIELDS[3:] if field in schema}
    if not new_ids:
        body |= {"id": schema["id"], "version": schema["version"]}
    registry.post(
        "subjects",
        schema["subject"],
        "versions",
        body=body,
        doing=f"import version {schema['version']} of '{schema['subject']}'",
    )


def _after_references(schemas: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sorted so that references come first. Schemas that refer to each other in a cycle come last."""
    waiting, ordered = list(schemas), list[dict[str, Any]]()
    here = {(schema["subject"], schema["version"]) for schema in schemas}
    done: set[tuple[str, int]] = set()
    while waiting:
        ready = [
            schema
            for schema in waiting
            if all(
                (item["subject"], item["version"]) in done or (item["subject"], item["version"]) not in here
                for item in schema.get("references", ())
            )
        ]
        ordered += ready or waiting
        done |= {(schema["subject"], schema["version"]) for schema in ready}
        waiting = [schema for schema in waiting if schema not in ready] if ready else []
    return ordered


def _begin(registry: RegistryHttp, subject: str) -> str | None:
    """Switches the subject to IMPORT, the only mode that accepts ids. Returns the previous mode, if it had its own."""
    try:
        had: str | None = registry.get("mode", subject, doing=f"read the mode of '{subject}'")["mode"]
    except Refused as refused:
        if refused.error_code not in NOT_CONFIGURED:
            raise
        had = None
    registry.put(
        "mode", subject, body={"mode": "IMPORT"}, doing=f"begin to import into '{subject}'", force=True
    )
    return had


def _end(registry: RegistryHttp, subject: str, mode: str | None) -> None:
    doing = f"set the mode of '{subject}' back"
    if mode is None:
        registry.delete("mode", subject, doing=doing)
    else:
        registry.put("mode", subject, body={"mode": mode}, doing=doing, force=True)


def _own_config(registry: RegistryHttp, subject: str) -> dict[str, Any] | None:
    try:
        config: dict[str, Any] = registry.get(
            "config", subject, doing=f"read the configuration of '{subject}'"
        )
    except Refused as refused:
        if refused.error_code in NOT_CONFIGURED:
            return None
        raise
    return config


def _read(file: str) -> dict[str, Any]:
    try:
        text = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        document = orjson.loads(text)
    except (OSError, orjson.JSONDecodeError) as error:
        raise Failure(f"cannot read '{file}': {error}.") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise Failure(f"'{file}' was not written by `moldau schemas export`.")
    return document
