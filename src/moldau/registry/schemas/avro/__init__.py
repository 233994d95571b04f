"""Avro schemas: parser, canonical text, schema resolution. Start at `schema.py`.

Only `schemas.parsing`, which loads it on first use, and the CLI import it.
"""
