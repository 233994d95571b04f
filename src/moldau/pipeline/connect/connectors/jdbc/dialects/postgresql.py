"""PostgreSQL."""

from typing import ClassVar

from moldau.pipeline.connect.connectors.jdbc.dialects.dialect import Dialect, plain_types
from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.schema import Schema, SchemaType


class PostgreSqlDialect(Dialect):
    name = "PostgreSQL"
    has_schemas = True
    has_arrays = True
    types: ClassVar = {
        **plain_types(
            int8="SMALLINT",
            int16="SMALLINT",
            int32="INT",
            int64="BIGINT",
            float32="REAL",
            float64="DOUBLE PRECISION",
            boolean="BOOLEAN",
            string="TEXT",
            bytes="BYTEA",
        ),
        schemas.DECIMAL: "DECIMAL",
        schemas.DATE: "DATE",
        schemas.TIME: "TIME",
        schemas.TIMESTAMP: "TIMESTAMP",
    }

    def column_type(self, schema: Schema, *, is_key: bool) -> str:
        inner = schema.value_schema
        if schema.type is SchemaType.ARRAY and inner is not None and inner.type in self.types:
            return f"{self.column_type(inner, is_key=is_key)}[]"
        return super().column_type(schema, is_key=is_key)
