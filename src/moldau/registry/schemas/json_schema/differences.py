"""Finds what prevents data that is valid under one JSON Schema from being valid under another.

`original` is the schema the data was written with, `update` the one it is read with. The rules and their names are
those Confluent publishes for its registry. The content model of an object or array matters most: open (anything is
allowed besides the named parts), closed, or partially open (anything that matches a given schema).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache

import jsonschema_rs

from moldau.registry.schemas.json_schema.matching import matched
from moldau.registry.schemas.json_schema.types import (
    Anything,
    Array,
    Combined,
    Const,
    Enum,
    Node,
    Not,
    Nothing,
    Number,
    Object,
    Simple,
    Text,
    followed,
    property_elsewhere,
)
from moldau.registry.schemas.json_text import write
from moldau.registry.schemas.model import InvalidSchema

_COMPARISONS_MAX = 20_000
_MATCHES_MAX = 100_000
_PASSES_MAX = 8
_VALUES_SHOWN_MAX = 5


@dataclass(frozen=True, slots=True)
class Difference:
    """A broken rule. `original` and `update` say what each side has, as text."""

    rule: str
    path: str
    within: str
    original: str = ""
    update: str = ""


def compared(original: Node, update: Node) -> list[Difference]:
    """Returns None when everything valid under `original` is valid under `update`.

    A pair met again inside itself is assumed to be compatible. If that turns out wrong, the comparison is repeated
    with that knowledge, until nothing new is found.
    """
    clashing: dict[tuple[int, int], Difference] = {}
    for _ in range(_PASSES_MAX):
        comparison = _Comparison(clashing)
        found = comparison.compare(original, update)
        if not comparison.was_assumed or comparison.clashing().keys() == clashing.keys():
            break
        clashing = comparison.clashing()
    return found


class _Comparison:
    def __init__(self, clashing: dict[tuple[int, int], Difference]) -> None:
        self._clashing = clashing
        self._done: dict[tuple[int, int], list[Difference]] = {}
        self._under_way: set[tuple[int, int]] = set()
        self._path: list[str] = []
        self._within: list[str] = []
        self._comparisons = 0
        self._matches = 0
        self.was_assumed = False

    def clashing(self) -> dict[tuple[int, int], Difference]:
        return {pair: found[0] for pair, found in self._done.items() if found}

    def compare(self, original: Node, update: Node) -> list[Difference]:
        original, update = followed(original), followed(update)
        pair = (id(original), id(update))
        if pair in self._done:
            # One difference is enough to say that the pair clashes; collecting all again would double at every level.
            return self._done[pair][:1]
        if pair in self._under_way:
            if pair in self._clashing:
                return [self._clashing[pair]]
            self.was_assumed = True
            return []
        self._under_way.add(pair)
        found = self._done[pair] = self._alternatives(original, update)
        self._under_way.remove(pair)
        return found

    def _alternatives(self, original: Node, update: Node) -> list[Difference]:
        """Compares a choice with a plain schema: either one alternative must fit, or all must."""
        if isinstance(update, Combined) and not isinstance(original, Combined):
            if (len(update.parts) == 1 or update.criterion in ("anyOf", "oneOf")) and any(
                not self.compare(original, part) for part in update.parts
            ):
                return []
        elif (
            isinstance(original, Combined)
            and not isinstance(update, Combined)
            and (len(original.parts) == 1 or original.criterion == "allOf")
            and any(not self.compare(part, update) for part in original.parts)
        ):
            return []
        return self._kinds(original, update)

    def _kinds(self, original: Node, update: Node) -> list[Difference]:
        if type(original) is not type(update):
            if isinstance(original, Nothing) or isinstance(update, Anything):
                return []
            return [self._found("TYPE_CHANGED", original.shown(), update.shown())]
        if original.shown() != update.shown() and isinstance(original, Simple):
            return [self._found("TYPE_CHANGED", original.shown(), update.shown())]
        return self._same_kind(original, update)

    def _same_kind(self, original: Node, update: Node) -> list[Difference]:
        match original, update:
            case Text(), Text():
                return [*self._limits(original.limits, update.limits), *self._pattern(original, update)]
            case Number(), Number():
                narrowed = update.is_integer and not original.is_integer
                kinds = [self._found("TYPE_NARROWED", "number", "integer")] if narrowed else []
                return [*self._limits(original.limits, update.limits), *kinds]
            case Const(), Const():
                return self._values("const", {original.value: None}, {update.value: None})
            case Enum(), Enum():
                return self._values("enum", original.values, update.values)
            case Not(), Not():
                with self._at("not"):
                    if self.compare(update.node, original.node):
                        return [self._found("NOT_TYPE_EXTENDED", "a narrower not", "a wider not")]
                return []
            case Combined(), Combined():
                return self._combined(original, update)
            case Object(), Object():
                return self._objects(original, update)
            case Array(), Array():
                return self._arrays(original, update)
        return []

    def _values(self, keyword: str, original: dict[str, None], update: dict[str, None]) -> list[Difference]:
        gone = [value for value in original if value not in update]
        if not gone:
            return []
        narrowed = keyword == "enum" and all(value in original for value in update)
        rule = "ENUM_ARRAY_NARROWED" if narrowed else "ENUM_ARRAY_CHANGED"
        with self._at(keyword):
            return [self._found(rule, _listed(list(original)), _listed(list(update)))]

    def _pattern(self, original: Text, update: Text) -> Iterator[Difference]:
        if update.pattern is not None and update.pattern != original.pattern:
            rule = "PATTERN_ADDED" if original.pattern is None else "PATTERN_CHANGED"
            with self._at("pattern"):
                yield self._found(rule, f"pattern {original.pattern}", f"pattern {update.pattern}")

    def _limits(self, original: dict[str, float], update: dict[str, float]) -> Iterator[Difference]:
        """A limit that is new or tighter than before."""
        for name, now in update.items():
            was = original.get(name)
            if (change := _tightened(name, was, now)) is None:
                continue
            with self._at(name):
                shown = f"no {name}" if was is None else f"{name} {write(was)}"
                yield self._found(f"{_rule_of(name)}_{change}", shown, f"{name} {write(now)}")

    def _combined(self, original: Combined, update: Combined) -> list[Difference]:
        if original.is_implied and update.is_implied and len(original.parts) == len(update.parts):
            kinds = [(type(a), type(b)) for a, b in zip(original.parts, update.parts, strict=True)]
            if original.criterion == update.criterion == "allOf" and all(a is b for a, b in kinds):
                pairs = zip(original.parts, update.parts, strict=True)
                return [difference for a, b in pairs for difference in self.compare(a, b)]
        if not _criterion_may_change(original, update):
            return [
                self._found("COMBINED_TYPE_CHANGED", original.criterion, update.criterion),
            ]
        found: list[Difference] = []
        sizes = (len(original.parts), len(update.parts))
        if sizes[0] < sizes[1] and update.criterion == "allOf":
            found.append(self._found("PRODUCT_TYPE_EXTENDED", original.shown(), update.shown()))
        elif sizes[0] > sizes[1] and original.criterion in ("anyOf", "oneOf"):
            found.append(self._found("SUM_TYPE_NARROWED", original.shown(), update.shown()))
        pairs_found, example = self._matching(original, update)
        if pairs_found < min(sizes):
            inner = f", where {example.within or 'the part'} clashes ({example.rule})" if example else ""
            found.append(
                self._found("COMBINED_TYPE_SUBSCHEMAS_CHANGED", original.shown(), update.shown() + inner)
            )
        return found

    def _matching(self, original: Combined, update: Combined) -> tuple[int, Difference | None]:
        """How many parts find a partner, and why one did not."""
        prints = (original.fingerprints(), update.fingerprints())
        same = set(prints[0]) & set(prints[1])
        left = [part for part, known in zip(original.parts, prints[0], strict=True) if known not in same]
        right = [part for part, known in zip(update.parts, prints[1], strict=True) if known not in same]
        example: Difference | None = None
        edges: list[list[int]] = []
        for position, part in enumerate(left):
            edges.append([])
            with self._at(f"{original.criterion}/{position}"):
                self._count(len(right))
                for other, candidate in enumerate(right):
                    clashes = self.compare(part, candidate)
                    if not clashes:
                        edges[-1].append(other)
                    elif example is None and type(followed(part)) is type(followed(candidate)):
                        example = clashes[0]
        return len(same) + matched(edges, len(right)), example

    def _count(self, comparisons: int) -> None:
        """Comparing all pairs is the only step that grows faster than the schemas."""
        self._comparisons += comparisons
        if self._comparisons > _COMPARISONS_MAX:
            raise InvalidSchema(
                f"The two schemas need more than {_COMPARISONS_MAX:,} comparisons of alternatives: "
                "use fewer of them in oneOf, anyOf and allOf."
            )

    def _objects(self, original: Object, update: Object) -> list[Difference]:
        found: list[Difference] = []
        for name in original.properties:
            if name in update.properties and name in update.required - original.required:
                with self._at("required", name, inside=name):
                    if not update.properties[name].has_default:
                        found.append(self._found("REQUIRED_ATTRIBUTE_ADDED", "optional", "required"))
        for name in dict.fromkeys([*original.properties, *update.properties]):
            with self._at("properties", name, inside=name):
                found += self._property(name, original, update)
        with self._at("dependencies"):
            found += self._dependencies(original, update)
        with self._at("additionalProperties"):
            found += self._additional("ADDITIONAL_PROPERTIES", original.additional, update.additional)
        found += self._unevaluated("PROPERTIES", original.unevaluated, update.unevaluated)
        return [*found, *self._limits(original.limits, update.limits)]

    def _property(self, name: str, original: Object, update: Object) -> list[Difference]:
        was, now = original.properties.get(name), update.properties.get(name)
        if was is not None and now is not None:
            return self.compare(was, now)
        if was is not None:
            if update.is_open:
                return []
            elsewhere = self._elsewhere(update, name)
            if elsewhere is not None:
                inner = self.compare(was, elsewhere)
                rule = "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
                return [*inner, self._found(rule, was.shown(), elsewhere.shown())] if inner else []
            if isinstance(followed(was), Nothing):
                return []
            return [self._found("PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL", was.shown(), "nothing")]
        assert now is not None
        return self._added(name, original, update, now)

    def _added(self, name: str, original: Object, update: Object, now: Node) -> list[Difference]:
        required, defaulted = name in update.required, now.has_default
        if original.is_open:
            if isinstance(followed(now), Anything):
                return []
            kind = (
                ("REQUIRED_PROPERTY_WITH_DEFAULT" if defaulted else "REQUIRED_PROPERTY") if required else None
            )
            rule = f"{kind or 'OPTIONAL_PROPERTY'}_ADDED_TO_OPEN_CONTENT_MODEL"
            return [self._found(rule, "anything", followed(now).shown())]
        found: list[Difference] = []
        elsewhere = self._elsewhere(original, name)
        if elsewhere is not None and (inner := self.compare(elsewhere, now)):
            rule = "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
            found += [*inner, self._found(rule, elsewhere.shown(), followed(now).shown())]
        if required and not defaulted:
            found.append(
                self._found(
                    "REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL", "absent", followed(now).shown()
                )
            )
        return found

    def _elsewhere(self, node: Object, name: str) -> Node | None:
        """The schema that applies to a property that is not named."""
        self._matches += len(node.patterns)
        if self._matches > _MATCHES_MAX:
            raise InvalidSchema(
                f"The two schemas need more than {_MATCHES_MAX:,} matches of properties against patterns: "
                "use fewer patternProperties."
            )
        for pattern, schema in node.patterns.items():
            if _compiled(pattern).is_valid(name):
                return schema
        return property_elsewhere(node)

    def _dependencies(self, original: Object, update: Object) -> Iterator[Difference]:
        for name, needs in update.needs.items():
            was = original.needs.get(name)
            if was is not None and needs <= was:
                continue
            kind = "ADDED" if was is None else "EXTENDED" if was <= needs else "CHANGED"
            with self._at(name, inside=name):
                shown = f"{name} needs {_listed(sorted(was))}" if was else f"{name} needs nothing"
                now = f"{name} needs {_listed(sorted(needs))}"
                yield self._found(f"DEPENDENCY_ARRAY_{kind}", shown, now)
        for name, node in update.implies.items():
            before = original.implies.get(name)
            with self._at(name, inside=name):
                if before is None:
                    yield self._found("DEPENDENCY_SCHEMA_ADDED", "no dependency", f"a dependency on {name}")
                else:
                    yield from self.compare(before, node)

    def _arrays(self, original: Array, update: Array) -> list[Difference]:
        found: list[Difference] = []
        with self._at("items", inside="[]"):
            if update.items is not None:
                if original.items is None:
                    found.append(self._found("SCHEMA_ADDED", "anything", followed(update.items).shown()))
                else:
                    found += self.compare(original.items, update.items)
        for position in range(max(len(original.positions), len(update.positions))):
            with self._at(f"items/{position}", inside=f"[{position}]"):
                found += self._item(position, original, update)
        with self._at("additionalItems"):
            found += self._additional("ADDITIONAL_ITEMS", original.additional, update.additional)
        found += self._unevaluated("ITEMS", original.unevaluated, update.unevaluated)
        found += self._limits(original.limits, update.limits)
        if update.unique and not original.unique:
            with self._at("uniqueItems"):
                found.append(self._found("UNIQUE_ITEMS_ADDED", "items may repeat", "uniqueItems true"))
        return found

    def _item(self, position: int, original: Array, update: Array) -> list[Difference]:
        was = original.positions[position] if position < len(original.positions) else None
        now = update.positions[position] if position < len(update.positions) else None
        if was is not None and now is not None:
            return self.compare(was, now)
        if was is not None:
            if update.is_open or (elsewhere := update.schema_elsewhere()) is None:
                if update.is_open or isinstance(followed(was), Nothing):
                    return []
                return [self._found("ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL", was.shown(), "nothing")]
            rule = "ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
            inner = self.compare(was, elsewhere)
            return [*inner, self._found(rule, was.shown(), elsewhere.shown())] if inner else []
        assert now is not None
        if original.is_open:
            if isinstance(followed(now), Anything):
                return []
            return [self._found("ITEM_ADDED_TO_OPEN_CONTENT_MODEL", "anything", followed(now).shown())]
        elsewhere = original.schema_elsewhere()
        inner = self.compare(elsewhere, now) if elsewhere is not None else []
        rule = "ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
        return [*inner, self._found(rule, "another schema", followed(now).shown())] if inner else []

    def _additional(self, name: str, was: bool | Node, now: bool | Node) -> list[Difference]:
        if now is True:
            return []
        if now is False:
            return [] if was is False else [self._found(f"{name}_REMOVED", "allowed", "not allowed")]
        if isinstance(was, Node):
            with self._at(inside="*"):
                return self.compare(was, now)
        return [self._found(f"{name}_NARROWED", "anything", now.shown())] if was else []

    def _unevaluated(self, name: str, was: Node | None, now: Node | None) -> list[Difference]:
        if now is None or isinstance(now, Anything):
            return []
        with self._at(f"unevaluated{name.capitalize()}"):
            if isinstance(now, Nothing):
                if isinstance(was, Nothing):
                    return []
                return [self._found(f"UNEVALUATED_{name}_REMOVED", "allowed", "not allowed")]
            if was is None or isinstance(was, Anything):
                return [self._found(f"UNEVALUATED_{name}_NARROWED", "anything", now.shown())]
            return [] if isinstance(was, Nothing) else self.compare(was, now)

    @contextmanager
    def _at(self, *parts: str, inside: str = "") -> Iterator[None]:
        self._path += parts
        if inside:
            self._within.append(inside)
        yield
        del self._path[len(self._path) - len(parts) :]
        if inside:
            self._within.pop()

    def _found(self, rule: str, original: str = "", update: str = "") -> Difference:
        within = ".".join(self._within).replace(".[", "[")
        return Difference(rule, "#/" + "/".join(self._path), within, original, update)


def _tightened(name: str, was: float | None, now: float) -> str | None:
    """ADDED, or the way in which a limit became stricter."""
    if was == now:
        return None
    if was is None:
        return "ADDED"
    if name == "multipleOf":
        if now and was % now == 0:
            return None
        return "EXPANDED" if was and now % was == 0 else "CHANGED"
    if name.lower().removeprefix("exclusive").startswith("max"):
        return "DECREASED" if now < was else None
    return "INCREASED" if now > was else None


def _rule_of(name: str) -> str:
    return "".join(f"_{letter}" if letter.isupper() else letter.upper() for letter in name).upper()


def _criterion_may_change(original: Combined, update: Combined) -> bool:
    if original.criterion == update.criterion or update.criterion == "anyOf":
        return True
    single_was, single_now = len(original.parts) == 1, len(update.parts) == 1
    return (single_was and (single_now or update.criterion == "oneOf")) or (
        single_now and original.criterion == "allOf"
    )


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> jsonschema_rs.Validator:
    """Uses the regular expressions of the JSON Schema library, which are safe against hostile patterns."""
    try:
        return jsonschema_rs.Draft7Validator({"pattern": pattern})
    except ValueError:
        return jsonschema_rs.Draft7Validator(False)


def _listed(values: list[str]) -> str:
    more = len(values) - _VALUES_SHOWN_MAX
    return ", ".join(values[:_VALUES_SHOWN_MAX]) + (f" and {more} more" if more > 0 else "")
