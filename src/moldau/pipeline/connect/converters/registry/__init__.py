"""Converters whose schemas are in a schema registry, as Confluent's: Avro, JSON Schema, Protobuf.

Start reading with `registry_converter.py`. Each of the three folders has schemas, values and the converter of its name.
"""
