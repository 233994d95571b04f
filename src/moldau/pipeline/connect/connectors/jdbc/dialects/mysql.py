"""MySQL and MariaDB."""

# ruff: noqa: S608 statements consist of quoted names; values are parameters

from collections.abc import Sequence
from typing import ClassVar

from moldau.pipeline.connect.connectors.jdbc.dialects.dialect import PARAMETER, Dialect, Sql, plain_types
from moldau.pipeline.connect.connectors.jdbc.table_names import TableName
from moldau.pipeline.connect.data import schema as schemas


class MySqlDialect(Dialect):
    name = "MySQL"
    mark = "`"
    types: ClassVar = {
        **plain_types(
            int8="TINYINT",
            int16="SMALLINT",
            int32="INT",
            int64="BIGINT",
            float32="FLOAT",
            float64="DOUBLE",
            boolean="TINYINT",
            string="TEXT",
            bytes="LONGBLOB",
        ),
        schemas.DECIMAL: "DECIMAL(65,{scale})",
        schemas.DATE: "DATE",
        schemas.TIME: "TIME(3)",
        schemas.TIMESTAMP: "DATETIME(3)",
    }
    # An index needs a length.
    key_types: ClassVar = plain_types(string="VARCHAR(255)", bytes="VARBINARY(255)")

    def on_conflict(self, names: Sequence[str], keys: Sequence[str]) -> str:
        changed = [self.quoted(name) for name in names if name not in keys]
        # Without other columns the row stays as it is, but the statement must name a change.
        changes = [f"{name} = VALUES({name})" for name in changed] or [
            f"{self.quoted(keys[0])} = {self.quoted(keys[0])}"
        ]
        return f"ON DUPLICATE KEY UPDATE {', '.join(changes)}"

    def unique_columns(self, table: TableName) -> Sql:
        place = PARAMETER if table.catalog else "DATABASE()"
        return Sql(
            "SELECT index_name, column_name FROM information_schema.statistics "
            f"WHERE non_unique = 0 AND table_name = {PARAMETER} AND table_schema = {place}",
            table.parts[::-1],
        )

    def text_literal(self, text: str) -> str:
        return super().text_literal(text.replace("\\", "\\\\"))
