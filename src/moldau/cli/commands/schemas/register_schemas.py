"""`moldau schemas register`, `check` and `evolve`."""

from collections.abc import Sequence
from typing import Any

import click

from moldau.cli.client.registry_http import SUBJECT_NOT_FOUND, VERSION_NOT_FOUND, Refused, RegistryHttp
from moldau.cli.confirmation import confirm
from moldau.cli.failures import Failure
from moldau.cli.formats.schema_files import schema_body, schema_options
from moldau.cli.registry_options import on_registry
from moldau.cli.render.output import (
    document_option,
    print_json,
)
from moldau.cli.render.schema_text import UPGRADE_ORDER, diff, rejection_text

EXIT_INCOMPATIBLE = 1


@click.command("register")
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
    """Register a schema as a new version of SUBJECT. FILE contains it; - is standard input.

    Exit code 1: incompatible."""
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
        _show_rejection(registry, subject, body, refused.clashes, [refused.words], output)
        return EXIT_INCOMPATIBLE
    stored = registry.post("subjects", subject, body=body, doing=doing, normalize=normalize)
    if output == "json":
        print_json({"subject": subject, "version": stored["version"], "id": answer["id"]})
    else:
        click.echo(f"Registered as version {stored['version']} of '{subject}', with id {answer['id']}.")
    return 0


@click.command("check")
@click.argument("subject")
@schema_options
@click.option(
    "--version",
    help="Check against this version only. Default: the versions that the compatibility level of SUBJECT requires.",
)
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
    """Check whether the schema in FILE is compatible with SUBJECT. Exit code 1: incompatible."""
    body = schema_body(file, schema_type, references, name)
    answer = _checked(registry, subject, body, normalize, version)
    if answer["is_compatible"]:
        if output == "json":
            print_json({"subject": subject, **answer})
        else:
            click.echo(f"Compatible: it can be registered under '{subject}'.")
        return 0
    _show_rejection(registry, subject, body, answer.get("clashes", []), answer.get("messages", []), output)
    return EXIT_INCOMPATIBLE


def _checked(
    registry: RegistryHttp, subject: str, body: dict[str, Any], normalize: bool, version: str | None
) -> dict[str, Any]:
    path = ("compatibility", "subjects", subject, "versions", *([version] if version else []))
    answer: dict[str, Any] = registry.post(
        *path, body=body, doing=f"check the schema against '{subject}'", verbose=True, normalize=normalize
    )
    return answer


@click.command("evolve")
@click.argument("subject")
@schema_options
@click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")
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
    """Compare a schema with SUBJECT, then register it. Shows what FILE changes and who must upgrade first.

    Exit code 1: incompatible."""
    body = schema_body(file, schema_type, references, name)
    answer = _checked(registry, subject, body, normalize, None)
    if not answer["is_compatible"]:
        _show_rejection(
            registry, subject, body, answer.get("clashes", []), answer.get("messages", []), output
        )
        return EXIT_INCOMPATIBLE
    latest = _latest(registry, subject)
    if output != "json" and latest is not None:
        changes = _changes(latest, body)
        click.echo(changes or "Only the formatting changes.")
        config = registry.get(
            "config", subject, doing=f"read the configuration of '{subject}'", defaultToGlobal=True
        )
        click.echo(f"\n{UPGRADE_ORDER.get(config['compatibilityLevel'], config['compatibilityLevel'])}")
    if latest is not None and not yes:
        confirm(f"Register this as the next version of '{subject}'?", "nothing was registered.")
    return _register(registry, subject, body, normalize, output)


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


def _show_rejection(
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
        pass  # There is nothing to compare if the schema itself is invalid.
    click.echo(f"\nRejected by '{subject}':\n{rejection_text(clashes, messages)}", err=True)
