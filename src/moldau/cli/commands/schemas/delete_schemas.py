"""`moldau schemas delete`."""

import click

from moldau.cli.client.registry_http import RegistryHttp
from moldau.cli.confirmation import confirm
from moldau.cli.registry_options import on_registry
from moldau.cli.render.output import (
    counted,
)


@click.command("delete")
@click.argument("subject")
@click.option("--version", help="Delete only this version: a number, or latest.")
@click.option(
    "--permanent", is_flag=True, help="Delete permanently. Requires a previous deletion without this option."
)
@click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")
@on_registry
def delete(registry: RegistryHttp, subject: str, version: str | None, permanent: bool, yes: bool) -> None:
    """Delete SUBJECT, or one version of it. Its data remains readable unless --permanent is given."""
    what = f"version {version} of '{subject}'" if version else f"'{subject}'"
    if not yes:
        consequence = " permanently, so that data written with it becomes unreadable" if permanent else ""
        confirm(f"Delete {what}{consequence}?", "nothing was deleted.")
    path = ("subjects", subject, *(["versions", version] if version else []))
    answer = registry.delete(*path, doing=f"delete {what}", permanent=permanent)
    gone = [answer] if isinstance(answer, int) else answer
    ending = "permanently." if permanent else "; --permanent deletes it permanently."
    click.echo(
        f"Deleted {counted(len(gone), 'version')} of '{subject}' ({', '.join(map(str, gone))})"
        f"{' ' if permanent else ''}{ending}"
    )
