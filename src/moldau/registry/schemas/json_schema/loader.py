"""Builds nodes from the JSON of a schema, for drafts 4, 6, 7, 2019-09 and 2020-12."""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from moldau.registry.schemas.json_schema.documents import Document, Location
from moldau.registry.schemas.json_schema.types import (
    Anything,
    Array,
    Combined,
    Conditional,
    Const,
    Enum,
    Link,
    Node,
    Not,
    Nothing,
    Number,
    Object,
    Simple,
    Text,
)
from moldau.registry.schemas.json_text import write

_TEXT_LIMITS = ("maxLength", "minLength")
_NUMBER_LIMITS = ("maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "multipleOf")
_ARRAY_LIMITS = ("maxItems", "minItems", "maxContains", "minContains")
_OBJECT_LIMITS = ("maxProperties", "minProperties")
_KEYWORDS: dict[str, tuple[str, ...]] = {
    "object": (
        *_OBJECT_LIMITS,
        "properties",
        "required",
        "patternProperties",
        "additionalProperties",
        "unevaluatedProperties",
        "propertyNames",
        "dependencies",
        "dependentRequired",
        "dependentSchemas",
    ),
    "array": (
        *_ARRAY_LIMITS,
        "items",
        "prefixItems",
        "additionalItems",
        "unevaluatedItems",
        "uniqueItems",
        "contains",
    ),
    "string": (*_TEXT_LIMITS, "pattern", "format"),
    "number": _NUMBER_LIMITS,
}


class Loader:
    """Builds each part of a document once, so that every `$ref` to it is the same node."""

    def __init__(self, *, siblings_count: bool) -> None:
        self._siblings_count = siblings_count
        """Since 2019-09 keywords beside a `$ref` apply too; before, they are ignored."""
        self._built: dict[int, Node] = {}
        self._fingerprints: dict[int, bytes] = {}
        self._links: list[tuple[Link, Location]] = []

    def load(self, document: Document) -> Node:
        root = self.build(document.json, document, document.base)
        while self._links:
            link, location = self._links.pop()
            link.target = self.build(location.json, location.document, location.base)
            link.has_default = link.has_default or link.target.has_default
        return root

    def build(self, json: Any, document: Document, base: str) -> Node:
        if json is True or json == {}:
            return Anything()
        if not isinstance(json, dict):
            return Nothing()
        if id(json) in self._built:
            return self._built[id(json)]
        inner = Inner(lambda json: self.build(json, document, base), self._fingerprint)
        node = self._build(json, inner, document, base)
        node.has_default = node.has_default or "default" in json
        self._built[id(json)] = node
        return node

    def _build(self, json: dict[str, Any], inner: "Inner", document: Document, base: str) -> Node:
        parts: list[tuple[Node, dict[str, Any]]] = []
        for key in ("$ref", "$dynamicRef", "$recursiveRef"):
            if isinstance(json.get(key), str):
                parts.append((self._link(json[key], document, base), {key: json[key]}))
                if not self._siblings_count:
                    return parts[0][0]
        parts += _typed(json, inner)
        if isinstance(json.get("enum"), list):
            values = dict.fromkeys(write(value, sort_keys=True) for value in json["enum"])
            parts.append((Enum(values=values), {"enum": json["enum"]}))
        if "const" in json:
            parts.append((Const(value=write(json["const"], sort_keys=True)), {"const": json["const"]}))
        if "not" in json:
            parts.append((Not(node=inner(json["not"])), {"not": json["not"]}))
        for criterion in ("allOf", "anyOf", "oneOf"):
            if isinstance(json.get(criterion), list):
                parts.append((_combined(criterion, json[criterion], inner), {criterion: json[criterion]}))
        if "if" in json:
            parts.append((Conditional(), {key: json.get(key) for key in ("if", "then", "else")}))
        return _joined("allOf", parts, inner)

    def _fingerprint(self, json: Any) -> bytes:
        """A key that is equal for equal JSON, whatever the order of names. Visits every value once."""
        if not isinstance(json, dict | list):
            return write(json).encode(errors="surrogatepass")
        known = self._fingerprints.get(id(json))
        if known is None:
            digest = blake2b(b"{" if isinstance(json, dict) else b"[", digest_size=16)
            if isinstance(json, dict):
                for key, value in sorted(json.items()):
                    digest.update(
                        b"%b:%b," % (write(key).encode(errors="surrogatepass"), self._fingerprint(value))
                    )
            else:
                for value in json:
                    digest.update(b"%b," % self._fingerprint(value))
            known = self._fingerprints[id(json)] = digest.digest()
        return known

    def _link(self, ref: str, document: Document, base: str) -> Node:
        location = document.find(ref, base)
        if location is None:
            return Anything()
        link = Link(ref=ref)
        self._links.append((link, location))
        return link


@dataclass(frozen=True, slots=True)
class Inner:
    """How a keyword's inner schemas are built and told apart."""

    build: Callable[[Any], Node]
    fingerprint: Callable[[Any], bytes]

    def __call__(self, json: Any) -> Node:
        return self.build(json)


def _joined(criterion: str, parts: list[tuple[Node, dict[str, Any]]], inner: Inner) -> Node:
    if not parts:
        return Anything()
    if len(parts) == 1:
        return parts[0][0]
    return Combined(
        criterion=criterion,
        parts=[node for node, _ in parts],
        fingerprints=lambda: [_members_fingerprint(json, inner) for _, json in parts],
        is_implied=True,
    )


def _members_fingerprint(json: dict[str, Any], inner: Inner) -> bytes:
    return b",".join(b"%b:%b" % (key.encode(), inner.fingerprint(value)) for key, value in json.items())


def _combined(criterion: str, jsons: list[Any], inner: Inner) -> Combined:
    """Equal parts count once."""
    different = {inner.fingerprint(json): json for json in jsons}
    return Combined(
        criterion=criterion,
        parts=[inner(json) for json in different.values()],
        fingerprints=lambda: list(different),
    )


def _typed(json: dict[str, Any], inner: Inner) -> list[tuple[Node, dict[str, Any]]]:
    """The named types, or those that the keywords apply to when none is named."""
    named = json.get("type")
    if isinstance(named, str):
        return [(_of_type(named, json, inner), _said(named, json))]
    if isinstance(named, list):
        types = [(_of_type(name, json, inner), _said(name, json)) for name in named if isinstance(name, str)]
        return [(_joined("anyOf", types, inner), {"type": named})] if types else []
    return [
        (_of_type(name, json, inner), _said(name, json))
        for name, keywords in _KEYWORDS.items()
        if any(key in json for key in keywords)
    ]


def _said(name: str, json: dict[str, Any]) -> dict[str, Any]:
    keywords = _KEYWORDS.get("number" if name == "integer" else name, ())
    return {"type": name} | {key: json[key] for key in keywords if key in json}


def _of_type(name: str, json: dict[str, Any], inner: Inner) -> Node:
    if name == "string":
        pattern = json.get("pattern")
        return Text(limits=_limits(json, _TEXT_LIMITS), pattern=pattern if isinstance(pattern, str) else None)
    if name in ("number", "integer"):
        return Number(limits=_number_limits(json), is_integer=name == "integer")
    if name == "object":
        return _object(json, inner)
    if name == "array":
        return _array(json, inner)
    return Simple(type=name)


def _limits(json: dict[str, Any], names: tuple[str, ...]) -> dict[str, float]:
    return {
        name: json[name]
        for name in names
        if isinstance(json.get(name), int | float) and not isinstance(json[name], bool)
    }


def _number_limits(json: dict[str, Any]) -> dict[str, float]:
    """Draft 4 writes an exclusive limit as a flag next to the limit."""
    limits = _limits(json, _NUMBER_LIMITS)
    for name, flag in (("maximum", "exclusiveMaximum"), ("minimum", "exclusiveMinimum")):
        if json.get(flag) is True and name in limits:
            limits[flag] = limits.pop(name)
    return limits


def _object(json: dict[str, Any], inner: Inner) -> Object:
    needs: dict[str, frozenset[str]] = {}
    implies: dict[str, Node] = {}
    for key in ("dependencies", "dependentRequired", "dependentSchemas"):
        for name, value in _members(json, key).items():
            if isinstance(value, list):
                needs[name] = frozenset(map(str, value))
            else:
                implies[name] = inner(value)
    required = json.get("required")
    return Object(
        properties={name: inner(value) for name, value in _members(json, "properties").items()},
        required=frozenset(map(str, required)) if isinstance(required, list) else frozenset(),
        patterns={name: inner(value) for name, value in _members(json, "patternProperties").items()},
        additional=_additional(json.get("additionalProperties", True), inner),
        unevaluated=inner(json["unevaluatedProperties"]) if "unevaluatedProperties" in json else None,
        limits=_limits(json, _OBJECT_LIMITS),
        needs=needs,
        implies=implies,
    )


def _array(json: dict[str, Any], inner: Inner) -> Array:
    positions, items = json.get("prefixItems"), json.get("items")
    additional = json.get("additionalItems", True)
    if isinstance(items, list):
        positions, items = items, None
    elif isinstance(positions, list):
        additional, items = (True if items is None else items), None
    return Array(
        items=inner(items) if items is not None else None,
        positions=[inner(item) for item in positions] if isinstance(positions, list) else [],
        additional=_additional(additional, inner),
        unevaluated=inner(json["unevaluatedItems"]) if "unevaluatedItems" in json else None,
        limits=_limits(json, _ARRAY_LIMITS),
        unique=json.get("uniqueItems") is True,
    )


def _additional(json: Any, inner: Inner) -> bool | Node:
    if isinstance(json, bool):
        return json
    return True if json == {} else inner(json)


def _members(json: dict[str, Any], key: str) -> dict[str, Any]:
    value = json.get(key)
    return value if isinstance(value, dict) else {}
