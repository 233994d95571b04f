"""`moldau schemas config`: shows and sets compatibility and mode, of one subject or globally."""

from typing import Any

import click

from moldau.cli.client.registry_http import Refused, RegistryHttp
from moldau.cli.registry_options import on_registry
from moldau.cli.render.output import about, document_option, print_json
from moldau.cli.render.schema_text import UPGRADE_ORDER

NOT_CONFIGURED = frozenset({40401, 40408, 40409})
LEVELS = tuple(UPGRADE_ORDER)
MODES = ("READWRITE", "READONLY", "IMPORT")


@click.command("config")
@click.argument("subject", required=False)
@click.option(
    "--compatibility", type=click.Choice(LEVELS, case_sensitive=False), help="Set the compatibility level."
)
@click.option("--mode", type=click.Choice(MODES, case_sensitive=False), help="Set the mode.")
@click.option("--force", is_flag=True, help="With --mode IMPORT: even if schemas exist.")
@click.option(
    "--normalize/--no-normalize", default=None, help="Whether to normalize every schema before registration."
)
@click.option(
    "--reset", is_flag=True, help="Remove the settings of SUBJECT, so that the global settings apply."
)
@document_option
@on_registry
def show_config(
    registry: RegistryHttp,
    subject: str | None,
    compatibility: str | None,
    mode: str | None,
    force: bool,
    normalize: bool | None,
    reset: bool,
    output: str,
) -> None:
    """Show the effective configuration of SUBJECT, or the global one. Options change it first."""
    path = [subject] if subject is not None else []
    whose = f"of '{subject}'" if subject is not None else "of the registry"
    if reset:
        for what in ("mode", "config"):
            _reset(registry, what, path, whose)
    changes: dict[str, Any] = {}
    if compatibility is not None:
        changes["compatibility"] = compatibility.upper()
    if normalize is not None:
        changes["normalize"] = normalize
    if changes:
        registry.put("config", *path, body=changes, doing=f"change the configuration {whose}")
    if mode is not None:
        registry.put(
            "mode", *path, body={"mode": mode.upper()}, doing=f"change the mode {whose}", force=force
        )
    _print(registry, path, whose, output)


def _reset(registry: RegistryHttp, what: str, path: list[str], whose: str) -> None:
    try:
        registry.delete(what, *path, doing=f"reset the {what} {whose}")
    except Refused as refused:
        if refused.error_code not in NOT_CONFIGURED:
            raise


def _print(registry: RegistryHttp, path: list[str], whose: str, output: str) -> None:
    config = registry.get("config", *path, doing=f"read the configuration {whose}", defaultToGlobal=True)
    mode = registry.get("mode", *path, doing=f"read the mode {whose}", defaultToGlobal=True)["mode"]
    if output == "json":
        print_json({**config, "mode": mode})
        return
    level = config["compatibilityLevel"]
    facts = [("compatibility", level), ("mode", mode)]
    facts += [(name, str(value)) for name, value in config.items() if name != "compatibilityLevel"]
    click.echo(f"{about(facts)}\n\n{UPGRADE_ORDER.get(level, '')}".rstrip())
