"""Rows to bytes and back: the formats of WITH, and one of our own between the steps of a query.

Each is a `Serde` of tuples in the order of the columns. Knows no query. Imported by `translation` and by what inserts
or prints rows. Start reading at `catalog.py`; `infer.py` is between columns and the schemas of the registry.
"""

from moldau.pipeline.sql.formats.catalog import row_serde
from moldau.pipeline.sql.formats.internal import internal_serde

__all__ = ["internal_serde", "row_serde"]
