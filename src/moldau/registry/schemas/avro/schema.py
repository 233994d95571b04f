"""The Avro schema a registry holds."""

from collections.abc import Mapping
from functools import cached_property

from moldau.registry.schemas.avro.identity import IdentityWriter
from moldau.registry.schemas.avro.parser import Parser
from moldau.registry.schemas.avro.resolution import Resolution
from moldau.registry.schemas.avro.text import CanonicalWriter, NormalizedWriter
from moldau.registry.schemas.avro.types import NamedType, Record
from moldau.registry.schemas.avro.words import clash
from moldau.registry.schemas.json_text import read
from moldau.registry.schemas.model import Clash, Direction, Existing, InvalidSchema, ParsedSchema


class AvroSchema(ParsedSchema):
    schema_type = "AVRO"

    def __init__(self, text: str, references: Mapping[str, ParsedSchema], *, strict: bool = True) -> None:
        self.text = text
        self.references = references
        self._strict = strict
        json = read(text, "Avro schema", comments=True)
        self._outside, self._known = _names_of(references)
        parser = Parser(self._outside, strict=strict)
        self.root = parser.parse(json)
        self.names = parser.names

    @cached_property
    def canonical(self) -> str:
        return CanonicalWriter(self._known).text(self.root)

    @cached_property
    def identity(self) -> str:
        return IdentityWriter().text(self.root)

    @property
    def name(self) -> str | None:
        return self.root.name.full if isinstance(self.root, Record) else None

    @property
    def known(self) -> set[str]:
        """The full names by which texts that refer to this schema use it."""
        own = {self.root.name.full} if isinstance(self.root, NamedType) else set()
        return self._known | own

    def has_field(self, name: str) -> bool:
        return isinstance(self.root, Record) and self.root.field_named(name) is not None

    def normalized(self) -> "AvroSchema":
        return AvroSchema(NormalizedWriter(self._known).text(self.root), self.references, strict=self._strict)

    def resolved(self) -> str:
        return CanonicalWriter(()).text(self.root)

    def clashes(self, other: Existing, direction: Direction) -> list[Clash]:
        assert isinstance(other.schema, AvroSchema)
        pair = (self.root, other.schema.root)
        reader, writer = pair if direction is Direction.BACKWARD else reversed(pair)
        found = Resolution().compare(reader, writer, "", "")
        return list(dict.fromkeys(clash(mismatch, direction, other.version) for mismatch in found))


def _names_of(references: Mapping[str, ParsedSchema]) -> tuple[dict[str, NamedType], set[str]]:
    names: dict[str, NamedType] = {}
    known: set[str] = set()
    for label, schema in references.items():
        if not isinstance(schema, AvroSchema):
            raise InvalidSchema(
                f"The reference {label} is a schema of type {schema.schema_type}; "
                "an Avro schema can refer to Avro schemas only."
            )
        for full, node in schema.names.items():
            if full in names and names[full] is not node and _text(names[full]) != _text(node):
                raise InvalidSchema(
                    f"{full} is defined differently by two references, one of them {label}: "
                    "refer to one version of it only."
                )
            names.setdefault(full, node)
        known |= schema.known
    return names, known


def _text(node: NamedType) -> str:
    return CanonicalWriter(()).text(node)
