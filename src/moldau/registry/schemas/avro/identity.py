"""What two Avro schemas must share to be the same: everything except layout, the order of properties and the order of
aliases.

Avro's Java library, and with it Confluent's registry, compares schemas this way.
"""

from moldau.registry.schemas.avro.types import (
    MISSING,
    Array,
    AvroType,
    Enum,
    Field,
    Fixed,
    Map,
    Primitive,
    Record,
    Union,
)
from moldau.registry.schemas.json_text import write


class IdentityWriter:
    """Writes every name in full, and a type where it first occurs, whether it is in the text or in a reference."""

    def __init__(self) -> None:
        self._written: set[str] = set()

    def text(self, node: AvroType) -> str:
        return write(self._value(node), sort_keys=True)

    def _value(self, node: AvroType) -> object:
        if isinstance(node, Primitive):
            return {"type": node.kind, "props": node.props}
        if isinstance(node, Union):
            return [self._value(branch) for branch in node.branches]
        if isinstance(node, Array):
            return {"type": "array", "items": self._value(node.items), "props": node.props}
        if isinstance(node, Map):
            return {"type": "map", "values": self._value(node.values), "props": node.props}
        if node.name.full in self._written:
            return node.name.full
        self._written.add(node.name.full)
        return self._named(node)

    def _named(self, node: Record | Enum | Fixed) -> object:
        value: dict[str, object] = {"type": node.kind, "name": node.name.full, "props": node.props}
        value |= {"aliases": sorted({alias.full for alias in node.aliases}), "doc": node.doc}
        if isinstance(node, Record):
            return value | {"isError": node.is_error, "fields": [self._field(field) for field in node.fields]}
        if isinstance(node, Enum):
            return value | {"symbols": node.symbols, "default": node.default}
        return value | {"size": node.size}

    def _field(self, field: Field) -> object:
        value: dict[str, object] = {"name": field.name, "type": self._value(field.type), "order": field.order}
        value |= {"doc": field.doc, "aliases": sorted(set(field.aliases)), "props": field.props}
        return value if field.default is MISSING else value | {"default": field.default}
