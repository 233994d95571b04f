"""Topics as Iceberg tables, and tables as topics. Start with `sink.py` and `source.py`; `commits.py` has exactly-once.

Pyiceberg takes a second to import: only `catalog.py`, `table_writer.py` and `table_changes.py` do, in tasks.
"""
