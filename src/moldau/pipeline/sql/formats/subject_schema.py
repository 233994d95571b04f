"""A schema as the registry keeps it. A value."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SubjectSchema:
    text: str
    """JSON of Avro and JSON Schema; of Protobuf the file's descriptor in Base64, the registry's `serialized` form."""
    type: str
    """AVRO, JSON or PROTOBUF."""
    references: tuple[tuple[str, str], ...] = ()
    """Name and text of what the schema imports, dependencies first."""
    id: int | None = None
    subject: str = ""
