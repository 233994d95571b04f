"""Turns nodes back into text: the canonical form that a registry stores, and the normalised form.

Canonical text keeps what the author wrote, in the order Avro's Java library prints it. Normalised text has full
names, sorted properties, and logical types written in one way, as in Confluent's registry.
"""

from collections.abc import Iterable

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

_TIMESTAMPS = [
    f"{local}timestamp-{unit}" for local in ("", "local-") for unit in ("millis", "micros", "nanos")
]
_LOGICAL_TYPES: dict[str, tuple[str, ...]] = {
    "decimal": ("bytes", "fixed"),
    "big-decimal": ("bytes",),
    "uuid": ("string", "fixed"),
    "duration": ("fixed",),
    "date": ("int",),
    "time-millis": ("int",),
    "time-micros": ("long",),
    **{name: ("long",) for name in _TIMESTAMPS},
}


class CanonicalWriter:
    """`known` are the full names that references define: they are written as names."""

    def __init__(self, known: Iterable[str]) -> None:
        self._written = set(known)

    def text(self, node: AvroType, namespace: str | None = None) -> str:
        if isinstance(node, Primitive):
            return write({"type": node.kind} | node.props if node.props else node.kind)
        if isinstance(node, Union):
            return "[" + ",".join(self.text(branch, namespace) for branch in node.branches) + "]"
        if isinstance(node, Array):
            return f'{{"type":"array","items":{self.text(node.items, namespace)}{_members(node.props)}}}'
        if isinstance(node, Map):
            return f'{{"type":"map","values":{self.text(node.values, namespace)}{_members(node.props)}}}'
        if node.name.full in self._written:
            return write(node.name.seen_from(namespace))
        self._written.add(node.name.full)
        return self._named(node, namespace)

    def _named(self, node: Record | Enum | Fixed, namespace: str | None) -> str:
        kind = "error" if isinstance(node, Record) and node.is_error else node.kind
        parts = [f'"type":"{kind}","name":{write(node.name.simple)}']
        if node.name.namespace is not None and node.name.namespace != namespace:
            parts.append(f'"namespace":{write(node.name.namespace)}')
        elif node.name.namespace is None and namespace is not None:
            parts.append('"namespace":""')
        if node.doc is not None:
            parts.append(f'"doc":{write(node.doc)}')
        if isinstance(node, Record):
            fields = ",".join(self._field(field, node.name.namespace) for field in node.fields)
            parts.append(f'"fields":[{fields}]')
        elif isinstance(node, Enum):
            parts.append(f'"symbols":{write(node.symbols)}')
            if node.default is not None:
                parts.append(f'"default":{write(node.default)}')
        else:
            parts.append(f'"size":{node.size}')
        tail = _members(node.props)
        if node.aliases:
            tail += f',"aliases":{write([alias.seen_from(node.name.namespace) for alias in node.aliases])}'
        return "{" + ",".join(parts) + tail + "}"

    def _field(self, field: Field, namespace: str | None) -> str:
        parts = [f'"name":{write(field.name)},"type":{self.text(field.type, namespace)}']
        if field.doc is not None:
            parts.append(f'"doc":{write(field.doc)}')
        if field.default is not MISSING:
            parts.append(f'"default":{write(field.default)}')
        if field.order != "ascending":
            parts.append(f'"order":"{field.order}"')
        if field.aliases:
            parts.append(f'"aliases":{write(field.aliases)}')
        return "{" + ",".join(parts) + _members(field.props) + "}"


class NormalizedWriter:
    def __init__(self, known: Iterable[str]) -> None:
        self._written = set(known)

    def text(self, node: AvroType) -> str:
        if isinstance(node, Primitive):
            props = "".join(_split_logical(node.kind, node.props))
            return f'{{"type":"{node.kind}"{props}}}' if props else f'"{node.kind}"'
        if isinstance(node, Union):
            return "[" + ",".join(self.text(branch) for branch in node.branches) + "]"
        if isinstance(node, Array):
            return f'{{"type":"array","items":{self.text(node.items)}{_members(node.props, sort_keys=True)}}}'
        if isinstance(node, Map):
            return f'{{"type":"map","values":{self.text(node.values)}{_members(node.props, sort_keys=True)}}}'
        if node.name.full in self._written:
            return write(node.name.full)
        self._written.add(node.name.full)
        return self._named(node)

    def _named(self, node: Record | Enum | Fixed) -> str:
        kind = "error" if isinstance(node, Record) and node.is_error else node.kind
        text = f'{{"name":{write(node.name.full)},"type":"{kind}"'
        if isinstance(node, Record):
            text += ',"fields":[' + ",".join(self._field(field) for field in node.fields) + "]"
        elif isinstance(node, Enum):
            text += f',"symbols":{write(node.symbols)}'
        else:
            text += f',"size":{node.size}'
        logical, others = _split_logical(node.kind, node.props)
        text += logical
        if node.doc:
            text += f',"doc":{write(node.doc)}'
        if node.aliases:
            text += f',"aliases":{write(sorted(alias.full for alias in node.aliases))}'
        if isinstance(node, Enum) and node.default is not None:
            text += f',"default":{write(node.default)}'
        return text + others + "}"

    def _field(self, field: Field) -> str:
        text = f'{{"name":{write(field.name)},"type":{self.text(field.type)},"order":"{field.order.upper()}"'
        if field.doc is not None:
            text += f',"doc":{write(field.doc)}'
        if field.aliases:
            text += f',"aliases":{write(sorted(field.aliases))}'
        if field.default is not MISSING:
            text += f',"default":{write(field.default, sort_keys=True)}'
        return text + _members(field.props, sort_keys=True) + "}"


def _members(props: dict[str, object], *, sort_keys: bool = False) -> str:
    items = sorted(props.items()) if sort_keys else props.items()
    return "".join(f",{write(key)}:{write(value, sort_keys=sort_keys)}" for key, value in items)


def _split_logical(kind: str, props: dict[str, object]) -> tuple[str, str]:
    """A logical type that Avro knows comes first, with a decimal's precision and scale; the rest is sorted."""
    if kind not in _LOGICAL_TYPES.get(str(props.get("logicalType")), ()):
        return "", _members(props, sort_keys=True)
    first: list[str] = [key for key in ("logicalType", "precision") if key in props]
    if props.get("scale"):
        first.append("scale")
    logical = {key: props[key] for key in first}
    return _members(logical), _members({k: v for k, v in props.items() if k not in logical}, sort_keys=True)
