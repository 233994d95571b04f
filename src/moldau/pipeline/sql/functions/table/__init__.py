"""The table functions, which make several rows out of one. Imported by `library`."""

from typing import Final

from moldau.pipeline.sql.functions.declaration import TableFunction
from moldau.pipeline.sql.functions.table import arrays

TABLES: Final[tuple[TableFunction, ...]] = arrays.FUNCTIONS
