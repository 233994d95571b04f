"""JSON Schema as nodes, one kind of node per kind of value it allows.

A schema that combines several constraints (a type and an enum, properties and a oneOf) is a `Combined` node with a
part for each, so that two schemas are compared part by part. Nodes are compared by identity: `$ref` creates cycles.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

_SHOWN_MAX = 5


@dataclass(eq=False, slots=True, kw_only=True)
class Node:
    has_default: bool = False

    def shown(self) -> str:
        raise NotImplementedError


@dataclass(eq=False, slots=True, kw_only=True)
class Anything(Node):
    def shown(self) -> str:
        return "anything"


@dataclass(eq=False, slots=True, kw_only=True)
class Nothing(Node):
    def shown(self) -> str:
        return "nothing"


@dataclass(eq=False, slots=True, kw_only=True)
class Simple(Node):
    """`boolean` and `null`."""

    type: str

    def shown(self) -> str:
        return self.type


@dataclass(eq=False, slots=True, kw_only=True)
class Text(Node):
    limits: dict[str, float]
    pattern: str | None

    def shown(self) -> str:
        return "string"


@dataclass(eq=False, slots=True, kw_only=True)
class Number(Node):
    limits: dict[str, float]
    is_integer: bool

    def shown(self) -> str:
        return "integer" if self.is_integer else "number"


@dataclass(eq=False, slots=True, kw_only=True)
class Array(Node):
    items: Node | None
    """The schema of every item, if there is one for all."""
    positions: list[Node]
    """Schemas by position (`prefixItems`, or a list under `items`)."""
    additional: bool | Node
    unevaluated: Node | None
    limits: dict[str, float]
    unique: bool

    def shown(self) -> str:
        return "array"

    @property
    def is_open(self) -> bool:
        return self.additional is True and (
            self.unevaluated is None or isinstance(self.unevaluated, Anything)
        )

    def schema_elsewhere(self) -> Node | None:
        """The schema of items without a position of their own, when neither everything nor nothing is allowed."""
        return _elsewhere(self.additional, self.unevaluated)


@dataclass(eq=False, slots=True, kw_only=True)
class Object(Node):
    properties: dict[str, Node]
    required: frozenset[str]
    patterns: dict[str, Node]
    additional: bool | Node
    unevaluated: Node | None
    limits: dict[str, float]
    needs: dict[str, frozenset[str]] = field(default_factory=dict)
    """Properties that are required when another one is present."""
    implies: dict[str, Node] = field(default_factory=dict)
    """Schemas that apply when a property is present."""

    def shown(self) -> str:
        return "object"

    @property
    def is_open(self) -> bool:
        return (
            self.additional is True
            and not self.patterns
            and (self.unevaluated is None or isinstance(self.unevaluated, Anything))
        )


def _elsewhere(additional: bool | Node, unevaluated: Node | None) -> Node | None:
    if isinstance(additional, Node):
        return additional
    if additional and unevaluated is not None and not isinstance(unevaluated, Anything | Nothing):
        return unevaluated
    return None


def property_elsewhere(node: Object) -> Node | None:
    return _elsewhere(node.additional, node.unevaluated)


@dataclass(eq=False, slots=True, kw_only=True)
class Const(Node):
    value: str
    """As canonical JSON."""

    def shown(self) -> str:
        return f"the constant {self.value}"


@dataclass(eq=False, slots=True, kw_only=True)
class Enum(Node):
    values: dict[str, None]
    """As canonical JSON, in the schema's order."""

    def shown(self) -> str:
        return "an enum"


@dataclass(eq=False, slots=True, kw_only=True)
class Not(Node):
    node: Node

    def shown(self) -> str:
        return "a not"


@dataclass(eq=False, slots=True, kw_only=True)
class Conditional(Node):
    def shown(self) -> str:
        return "an if"


@dataclass(eq=False, slots=True, kw_only=True)
class Combined(Node):
    criterion: str
    parts: list[Node]
    fingerprints: Callable[[], list[bytes]]
    """Parts with equal keys are equal and need no comparison. Computed on demand, which is rare."""
    is_implied: bool = False
    """Whether it stands for several keywords side by side or a list of types."""

    def shown(self) -> str:
        if self.is_implied:
            word = " or " if self.criterion == "anyOf" else " with "
            return word.join(dict.fromkeys(part.shown() for part in self.parts))
        shown = [part.criterion if isinstance(part, Combined) else part.shown() for part in self.parts]
        more = f" and {len(shown) - _SHOWN_MAX} more" if len(shown) > _SHOWN_MAX else ""
        return f"{self.criterion} of ({', '.join(shown[:_SHOWN_MAX])}{more})"


@dataclass(eq=False, slots=True, kw_only=True)
class Link(Node):
    """A `$ref`. `target` is set once the part it points to is built."""

    ref: str
    target: Node | None = None

    def shown(self) -> str:
        return f"$ref {self.ref}"


def followed(node: Node) -> Node:
    """The node behind a chain of `$ref`. A chain that only leads back to itself allows everything."""
    seen: set[int] = set()
    while isinstance(node, Link):
        if id(node) in seen or node.target is None:
            return Anything()
        seen.add(id(node))
        node = node.target
    return node
