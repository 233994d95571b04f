"""Protobuf schemas: parser, canonical text, descriptors, differences. Start at `schema.py`.

Only `schemas.parsing`, which loads it on first use, and the CLI import it.
"""
