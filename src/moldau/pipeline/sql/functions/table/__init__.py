"""The table functions, which make several rows out of one. Imported by `library`."""

from moldau.pipeline.sql.functions.declaration import TableFunction

TABLES: tuple[TableFunction, ...] = ()
