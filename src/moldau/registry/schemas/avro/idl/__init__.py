"""Avro IDL (`.avdl`), from which the command line makes the JSON a registry stores. Start at `schemas.schema_of`."""

from moldau.registry.schemas.avro.idl.schemas import SeveralTypes, schema_of

__all__ = ["SeveralTypes", "schema_of"]
