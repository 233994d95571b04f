"""Kafka Connect's data model: schemas, structs, logical types and records. Pure. Start reading with `schema.py`."""
