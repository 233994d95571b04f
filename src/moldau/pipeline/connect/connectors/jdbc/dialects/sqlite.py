"""SQLite. It has no types for dates and times: they are texts in the form of ISO 8601, which its functions understand.

Whole numbers in such columns are milliseconds since 1970, as Java's driver writes them.
"""

from collections.abc import Sequence
from typing import ClassVar, Final

from moldau.pipeline.connect.connectors.jdbc.dialects.dialect import PARAMETER, Dialect, plain_types
from moldau.pipeline.connect.data import schema as schemas

_FORMAT: Final = "'%Y-%m-%d %H:%M:%f'"


class SqliteDialect(Dialect):
    name = "SQLite"
    types: ClassVar = {
        **plain_types(
            int8="INTEGER",
            int16="INTEGER",
            int32="INTEGER",
            int64="INTEGER",
            float32="REAL",
            float64="REAL",
            boolean="INTEGER",
            string="TEXT",
            bytes="BLOB",
        ),
        schemas.DECIMAL: "NUMERIC",
        schemas.DATE: "DATE",
        schemas.TIME: "TIME",
        schemas.TIMESTAMP: "TIMESTAMP",
    }

    def moment(self, columns: Sequence[str]) -> str:
        """In one form, whatever form the rows have: texts are compared."""
        each = [
            f"CASE typeof({name}) WHEN 'integer' THEN strftime({_FORMAT}, {name} / 1000.0, 'unixepoch') "
            f"ELSE strftime({_FORMAT}, {name}) END"
            for name in map(self.quoted, columns)
        ]
        return f"COALESCE({', '.join(each)})" if len(each) > 1 else each[0]

    def moment_parameter(self) -> str:
        # The same rounding to milliseconds as that of the rows.
        return f"strftime({_FORMAT}, {PARAMETER})"
