"""Schemas of the three formats: parsing, canonical text, normalisation and compatibility.

Start at `parsing.py` (text to schema), `model.py` (what all formats share) and `compatibility.py`. Each format is a
package of its own, loaded when first used. Pure: no HTTP, no Kafka, no files. The CLI uses this package, too.
"""

from moldau.registry.schemas.compatibility import MODES, check
from moldau.registry.schemas.model import Clash, Direction, Existing, InvalidSchema, ParsedSchema
from moldau.registry.schemas.parsing import SCHEMA_TYPES, parse, read, verify

__all__ = [
    "MODES",
    "SCHEMA_TYPES",
    "Clash",
    "Direction",
    "Existing",
    "InvalidSchema",
    "ParsedSchema",
    "check",
    "parse",
    "read",
    "verify",
]
