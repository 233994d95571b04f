"""The connections to databases: one module for each of Python's drivers. Start reading with `database.py`."""

from typing import Final

from moldau.pipeline.connect.connectors.jdbc.dialects import DIALECTS
from moldau.pipeline.connect.connectors.jdbc.drivers.database import Database
from moldau.pipeline.connect.connectors.jdbc.drivers.psycopg_database import PsycopgDatabase
from moldau.pipeline.connect.connectors.jdbc.drivers.pymysql_database import PyMySqlDatabase
from moldau.pipeline.connect.connectors.jdbc.drivers.sqlite_database import SqliteDatabase
from moldau.pipeline.connect.connectors.jdbc.settings import ConnectionSettings
from moldau.pipeline.connect.connectors.jdbc.urls import MYSQL, POSTGRESQL, SQLITE

DATABASES: Final[dict[str, type[Database]]] = {
    POSTGRESQL: PsycopgDatabase,
    MYSQL: PyMySqlDatabase,
    SQLITE: SqliteDatabase,
}


def database_of(settings: ConnectionSettings) -> Database:
    """Not connected yet."""
    kind = settings.url.kind
    return DATABASES[kind](settings, DIALECTS[kind](is_quoted=settings.is_quoted))
