"""Serdes: convert the bytes of keys and values to Python values and back. Start at `serde.py`.

Imported by everything in `pipeline` and by `moldau.spark`. `registry.py` needs a schema registry at run time.
"""

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
