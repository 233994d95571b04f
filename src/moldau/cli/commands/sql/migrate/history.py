"""What a server has applied: events in a stream, and a table of the newest for each version.

The stream and the table have the names and columns of ksql-migrations, which reads the table. Here the stream is read:
it has what was just written, and needs no query that keeps a table.
"""

from typing import Final, NamedTuple

from moldau.cli.commands.sql.migrate.project import Migration, Project
from moldau.cli.failures import Failure
from moldau.cli.sql_shell.session import Session
from moldau.cli.sql_shell.sql_server import Refused

CURRENT: Final = "CURRENT"
NONE: Final = "<none>"
PENDING, RUNNING, MIGRATED, ERROR = "PENDING", "RUNNING", "MIGRATED", "ERROR"
COLUMNS: Final = (
    *("VERSION", "NAME", "STATE", "CHECKSUM", "STARTED_ON", "COMPLETED_ON", "PREVIOUS", "ERROR_REASON"),
)


class Event(NamedTuple):
    """What happened to a migration. All of it is text, as in the stream."""

    version: str
    name: str
    state: str
    checksum: str = ""
    started_on: str = ""
    """Milliseconds since 1970."""
    completed_on: str = ""
    previous: str = NONE
    error_reason: str = "N/A"


class History:
    def __init__(self, project: Project, session: Session) -> None:
        self._project = project
        self._session = session

    def statements_to_create(self) -> list[str]:
        project, service_id = self._project, str(self._session.server.info().get("ksqlServiceId") or "")
        columns = ", ".join(f"{name} STRING" for name in COLUMNS)
        newest = ", ".join(f"LATEST_BY_OFFSET({name}) AS {name}" for name in COLUMNS)
        return [
            f"CREATE STREAM {project.stream} (VERSION_KEY STRING KEY, {columns}) WITH ("
            f"KAFKA_TOPIC='{project.stream_topic(service_id)}', VALUE_FORMAT='JSON', "
            f"PARTITIONS=1, REPLICAS={project.replicas});",
            f"CREATE TABLE {project.table} WITH (KAFKA_TOPIC='{project.table_topic(service_id)}') AS "
            f"SELECT VERSION_KEY, {newest} FROM {project.stream} GROUP BY VERSION_KEY;",
        ]

    def create(self) -> None:
        for statement in self.statements_to_create():
            self._session.execute(statement)

    def destroy(self) -> None:
        self._session.execute(f"DROP TABLE IF EXISTS {self._project.table} DELETE TOPIC;")
        self._session.execute(f"DROP STREAM IF EXISTS {self._project.stream} DELETE TOPIC;")

    def read(self) -> dict[str, Event]:
        """The newest event of each version, and of CURRENT."""
        query = f"SELECT VERSION_KEY, {', '.join(COLUMNS)} FROM {self._project.stream};"
        try:
            with self._session.server.query(query, self._session.settings) as rows:
                return {str(key): Event(*(text or "" for text in rest)) for key, *rest in rows}
        except Refused as refused:
            raise Failure(
                f"cannot read {self._project.stream} on {self._project.url}: {refused.message}",
                "`moldau sql migrate initialize-metadata` creates it.",
            ) from refused

    def write(self, event: Event) -> None:
        for key in (CURRENT, event.version):
            values = ", ".join("'" + text.replace("'", "''") + "'" for text in (key, *event))
            self._session.execute(
                f"INSERT INTO {self._project.stream} (VERSION_KEY, {', '.join(COLUMNS)}) VALUES ({values});"
            )


def event_of(migration: Migration, state: str, previous: str) -> Event:
    return Event(str(migration.version), migration.name, state, migration.checksum, previous=previous)
