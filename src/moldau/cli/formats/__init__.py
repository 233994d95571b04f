"""Formats of keys and values: Kafka's serializers, and Avro, Protobuf and JSON Schema with a registry.

Imported by `produce`, `consume`, `perf` and `schemas`. Start with `format_options.py`, then `codecs.py`.
"""
