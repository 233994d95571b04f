"""Joins: stream-stream, stream-table (`lookups.py`), table-table and by foreign key."""
