"""The SQL of each database as texts: quotes, types, statements. Pure. Start reading with `dialect.py`."""

from typing import Final

from moldau.pipeline.connect.connectors.jdbc.dialects.dialect import Dialect
from moldau.pipeline.connect.connectors.jdbc.dialects.mysql import MySqlDialect
from moldau.pipeline.connect.connectors.jdbc.dialects.postgresql import PostgreSqlDialect
from moldau.pipeline.connect.connectors.jdbc.dialects.sqlite import SqliteDialect
from moldau.pipeline.connect.connectors.jdbc.urls import MYSQL, POSTGRESQL, SQLITE

DIALECTS: Final[dict[str, type[Dialect]]] = {
    POSTGRESQL: PostgreSqlDialect,
    MYSQL: MySqlDialect,
    SQLITE: SqliteDialect,
}
