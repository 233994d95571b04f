"""Applies migrations in the order of their versions, and records what happened."""

import time
from collections.abc import Mapping
from typing import Final

import click

from moldau.cli.commands.sql.migrate.history import (
    CURRENT,
    ERROR,
    MIGRATED,
    NONE,
    PENDING,
    RUNNING,
    Event,
    History,
    event_of,
)
from moldau.cli.commands.sql.migrate.project import Migration, Project
from moldau.cli.failures import Failure
from moldau.cli.sql_shell.screen import Screen
from moldau.cli.sql_shell.session import Session
from moldau.cli.sql_shell.sql_server import Login, SqlServer
from moldau.cli.sql_shell.statements import Kind, classify, split

_NOT_IN_MIGRATIONS: Final = (Kind.QUERY, Kind.PRINT, Kind.RUN_SCRIPT)


class Migrator:
    def __init__(self, project: Project) -> None:
        settings = project.settings
        login = Login(settings.get("ksql.auth.basic.username"), settings.get("ksql.auth.basic.password"))
        self.project = project
        self.url = project.url
        self._server = SqlServer(project.url, login)
        self._history = History(project, Session(self._server, Screen()))

    def initialize(self) -> None:
        self._history.create()

    def destroy(self) -> None:
        self._history.destroy()

    def current_version(self) -> str | None:
        """The newest version that was applied, or has failed."""
        event = self._history.read().get(CURRENT)
        return None if event is None else event.version

    def overview(self) -> list[Event]:
        """Of every migration of the project, and of those that were applied from other files."""
        known = self._history.read()
        mine = {str(one.version): event_of(one, PENDING, "") for one in self.project.migrations()}
        found = {**mine, **{version: event for version, event in known.items() if version != CURRENT}}
        return [found[version] for version in sorted(found, key=int)]

    def validate(self) -> int:
        """The number of applied migrations, whose files are all as they were."""
        return len(_validated(self._history.read(), self.project.migrations()))

    def to_apply(
        self, *, next_only: bool, until: int | None, version: int | None, after_crash: bool
    ) -> list[Migration]:
        known, migrations = self._history.read(), self.project.migrations()
        current = known.get(CURRENT)
        if current is not None and current.state == RUNNING and not after_crash:
            raise Failure(
                f"migration {current.version}: {current.name} is being applied.",
                "If the command that did so was killed, pass --after-crash to apply it again.",
            )
        _validated(known, migrations)
        applied = int(_applied_last(known) or 0)
        if version is not None:
            return [_one(migrations, version, applied)]
        left = [
            one for one in migrations if one.version > applied and (until is None or one.version <= until)
        ]
        return left[:1] if next_only else left

    def apply(self, migration: Migration, variables: Mapping[str, str]) -> None:
        previous = _applied_last(self._history.read()) or NONE
        statements = _statements(migration)
        started = event_of(migration, RUNNING, previous)._replace(started_on=_now())
        self._history.write(started)
        try:
            self._run(statements, variables)
        except (click.ClickException, KeyboardInterrupt) as failure:
            reason = failure.message if isinstance(failure, click.ClickException) else "interrupted"
            self._history.write(started._replace(state=ERROR, completed_on=_now(), error_reason=reason))
            if isinstance(failure, KeyboardInterrupt):
                raise
            raise Failure(
                f"migration {migration} failed: {reason}",
                f"Statements before it stay executed. Mend {migration.file} and apply again.",
            ) from failure
        self._history.write(started._replace(state=MIGRATED, completed_on=_now()))

    def _run(self, statements: list[str], variables: Mapping[str, str]) -> None:
        """In a session of its own: SET and DEFINE end with the migration."""
        session = Session(self._server, Screen())
        session.variables.update(variables)
        for statement in statements:
            if classify(statement).kind is Kind.OTHER:
                session.execute(statement)
            else:
                session.run(statement)


def _statements(migration: Migration) -> list[str]:
    complete, rest, _ = split(migration.text())
    if rest:
        raise Failure(f"{migration.file} ends within a statement.", "A statement ends with a semicolon.")
    for statement in complete:
        if classify(statement).kind in _NOT_IN_MIGRATIONS:
            first = " ".join(statement.split())[:60]
            raise Failure(
                f"{migration.file} has a statement that changes nothing: {first}",
                "Leave it out of migrations.",
            )
    return complete


def _applied_last(known: Mapping[str, Event]) -> str | None:
    """The newest version that was applied. One that failed, or is running, is to be applied again."""
    applied = [
        int(event.version) for key, event in known.items() if key != CURRENT and event.state == MIGRATED
    ]
    return str(max(applied)) if applied else None


def _validated(known: Mapping[str, Event], migrations: list[Migration]) -> list[Migration]:
    files = {str(migration.version): migration for migration in migrations}
    applied = [event for key, event in sorted(known.items()) if key != CURRENT and event.state == MIGRATED]
    for event in applied:
        file = files.get(event.version)
        if file is None:
            raise Failure(
                f"migration {event.version}: {event.name} was applied, and has no file here.",
                "Restore its file, or use the project it was applied from.",
            )
        if file.checksum != event.checksum:
            raise Failure(
                f"{file.file} is not as it was when it was applied: its checksum is {file.checksum}, "
                f"and was {event.checksum}.",
                "Restore the file; make changes in a new migration.",
            )
    return [files[event.version] for event in applied]


def _one(migrations: list[Migration], version: int, applied: int) -> Migration:
    found = next((migration for migration in migrations if migration.version == version), None)
    if found is None:
        raise Failure(
            f"there is no migration with version {version}.", "`moldau sql migrate info` lists all."
        )
    if version <= applied:
        raise Failure(
            f"version {version} cannot be applied: version {applied} is.",
            "A new migration has a higher version.",
        )
    return found


def _now() -> str:
    return str(time.time_ns() // 1_000_000)
