"""Serdes: bytes of records to Python values and back."""

from moldau.pipeline.serdes.primitives import BOOLEAN, BYTES, DOUBLE, FLOAT, INT, JSON, LONG, SHORT, STRING
from moldau.pipeline.serdes.serde import Decoder, Encoder, Serde

__all__ = [
    "BOOLEAN",
    "BYTES",
    "DOUBLE",
    "FLOAT",
    "INT",
    "JSON",
    "LONG",
    "SHORT",
    "STRING",
    "Decoder",
    "Encoder",
    "Serde",
]
