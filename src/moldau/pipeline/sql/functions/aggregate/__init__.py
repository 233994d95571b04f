"""The aggregate functions: one module for each subject, each with its `FUNCTIONS`. Imported by `library`."""

from moldau.pipeline.sql.functions.declaration import Aggregate

AGGREGATES: tuple[Aggregate, ...] = ()
