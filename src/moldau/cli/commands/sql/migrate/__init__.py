"""`moldau sql migrate`: changes of a server's streams and tables as numbered files, each applied once.

Does what ksqlDB's `ksql-migrations` does, with its project folders and its metadata on the server, so that projects can
move between the two. `project.py` reads the folder, `history.py` what the server has applied, `migrator.py` applies.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from moldau.cli.commands.sql.migrate.project import CONFIG_FILE, Project, new_project
from moldau.cli.commands.sql.shell_options import define_option
from moldau.cli.render.output import columns, counted, document_option, iso_time, print_json

if TYPE_CHECKING:
    from moldau.cli.commands.sql.migrate.history import Event
    from moldau.cli.commands.sql.migrate.migrator import Migrator


@click.group("migrate")
@click.option(
    "--config-file",
    "-c",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path(CONFIG_FILE),
    show_default=True,
    help="The configuration of the project.",
)
@click.pass_context
def migrate(context: click.Context, /, config_file: Path) -> None:
    """Apply numbered files of statements to a server, each once.

    \b
    moldau sql migrate new-project shop http://localhost:8088
    cd shop
    moldau sql migrate initialize-metadata
    moldau sql migrate create "Add users"
    moldau sql migrate apply --all
    """
    context.obj = config_file


@migrate.command("new-project")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.argument("url")
def create_project(folder: Path, url: str) -> None:
    """Create a project in FOLDER for the server at URL."""
    config = new_project(folder, url)
    click.echo(f"Created {config}. Its migrations belong in {config.parent / 'migrations'}.")


@migrate.command("create")
@click.argument("description")
@click.option("--version", "-v", metavar="NUMBER", type=click.IntRange(1, 999_999), help="Default: the next.")
@click.pass_obj
def create(config_file: Path, description: str, version: int | None) -> None:
    """Create an empty migration."""
    click.echo(f"Created {Project.load(config_file).add(description, version)}")


@migrate.command("initialize-metadata")
@click.pass_obj
def initialize(config_file: Path) -> None:
    """Create the stream and the table on the server that record what was applied."""
    migrator = _migrator(config_file)
    migrator.initialize()
    click.echo(f"Migrations of {migrator.url} are recorded in {migrator.project.stream}.")


@migrate.command("apply")
@click.option("--all", "-a", "all_", is_flag=True, help="Apply all migrations that are left.")
@click.option("--next", "-n", "next_", is_flag=True, help="Apply the next one.")
@click.option(
    "--until", "-u", metavar="NUMBER", type=click.IntRange(1), help="Apply those up to this version."
)
@click.option("--version", "-v", metavar="NUMBER", type=click.IntRange(1), help="Apply this version only.")
@click.option("--dry-run", is_flag=True, help="Show what would be applied.")
@click.option(
    "--after-crash",
    is_flag=True,
    help="Apply again what is recorded as running: the command that applied it was killed.",
)
@define_option
@click.pass_obj
def apply(
    config_file: Path,
    all_: bool,
    next_: bool,
    until: int | None,
    version: int | None,
    dry_run: bool,
    after_crash: bool,
    variables: Sequence[tuple[str, str]],
) -> None:
    """Apply migrations. The first that fails ends it; mend its file and apply again."""
    if [all_, next_, until is not None, version is not None].count(True) != 1:
        raise click.UsageError("Say which: one of --all, --next, --until and --version.")
    migrator = _migrator(config_file)
    chosen = migrator.to_apply(next_only=next_, until=until, version=version, after_crash=after_crash)
    for migration in chosen:
        click.echo(f"{'Would apply' if dry_run else 'Applying'} {migration}")
        if dry_run:
            click.echo(migration.text().rstrip())
        else:
            migrator.apply(migration, dict(variables))
    done = counted(len(chosen), "migration")
    click.echo("Nothing to apply." if not chosen else f"{done} {'to apply' if dry_run else 'applied'}.")


@migrate.command("info")
@document_option
@click.pass_obj
def info(config_file: Path, output: str) -> None:
    """Show which migrations are applied, and which are left."""
    migrator = _migrator(config_file)
    events = migrator.overview()
    if output == "json":
        print_json(
            {"current": migrator.current_version(), "migrations": [event._asdict() for event in events]}
        )
        return
    click.echo(f"Current version: {migrator.current_version() or 'none'}")
    if events:
        headings = ("Version", "Name", "State", "Previous", "Started", "Completed", "Error")
        click.echo(columns(headings, [_row(event) for event in events]))


def _row(event: "Event") -> tuple[str | int | None, ...]:
    times = [
        iso_time(int(text)) if text.isdecimal() else None for text in (event.started_on, event.completed_on)
    ]
    error = None if event.error_reason in ("", "N/A") else event.error_reason.splitlines()[0]
    return (int(event.version), event.name, event.state, event.previous or None, *times, error)


@migrate.command("validate")
@click.pass_obj
def validate(config_file: Path) -> None:
    """Check that the files of applied migrations are unchanged."""
    click.echo(f"{counted(_migrator(config_file).validate(), 'applied migration')} unchanged.")


@migrate.command("destroy-metadata")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.pass_obj
def destroy(config_file: Path, yes: bool) -> None:
    """Delete the record of what was applied. What was applied stays."""
    migrator = _migrator(config_file)
    if not yes:
        click.confirm(f"Delete the record of all migrations of {migrator.url}?", abort=True)
    migrator.destroy()
    click.echo("Deleted.")


def _alias(name: str, command: click.Command) -> None:
    """A shorter name, which the help does not list."""
    made = click.Command(
        name, callback=command.callback, params=command.params, help=command.help, hidden=True
    )
    migrate.add_command(made)


_alias("initialize", initialize)
_alias("destroy", destroy)


def _migrator(config_file: Path) -> "Migrator":
    # Imported here because the help needs no HTTP client.
    from moldau.cli.commands.sql.migrate.migrator import Migrator

    return Migrator(Project.load(config_file))
