"""Avro's schema resolution: can a reader with one schema read what a writer with another wrote?

The rules and their names are those of Avro's Java library. All clashes are reported, each at its path in the reader's
schema.
"""

from dataclasses import dataclass, replace

from moldau.registry.schemas.avro.types import (
    MISSING,
    Array,
    AvroType,
    Enum,
    Field,
    Fixed,
    Map,
    NamedType,
    Primitive,
    Record,
    Union,
)

_PROMOTIONS = {
    "long": {"int"},
    "float": {"int", "long"},
    "double": {"int", "long", "float"},
    "string": {"bytes"},
    "bytes": {"string"},
}


@dataclass(frozen=True, slots=True)
class Mismatch:
    """What a reader cannot resolve. `reader` and `writer` are the nodes that clash; `within` names the field."""

    rule: str
    path: str
    within: str
    reader: AvroType
    writer: AvroType
    field: Field | None = None
    symbols: tuple[str, ...] = ()
    one_of: Union | None = None
    """The writer's union, when only one of its branches clashes."""
    inner: "Mismatch | None" = None
    """Why the reader's branch of the same name does not resolve."""


class Resolution:
    """One comparison. A pair that is being compared is assumed to resolve, which ends the recursion."""

    def __init__(self) -> None:
        self._met: dict[tuple[int, int], list[Mismatch]] = {}
        self._branches: dict[int, dict[tuple[str, str], list[AvroType]]] = {}

    def compare(self, reader: AvroType, writer: AvroType, path: str, within: str) -> list[Mismatch]:
        key = (id(reader), id(writer))
        if key in self._met:
            # One mismatch is enough to say that the pair clashes; collecting all again would double at every level.
            return self._met[key][:1]
        self._met[key] = []
        found = self._compare(reader, writer, path, within)
        self._met[key] = found
        return found

    def _compare(self, reader: AvroType, writer: AvroType, path: str, within: str) -> list[Mismatch]:
        if isinstance(writer, Union):
            return self._from_union(reader, writer, path, within)
        if isinstance(reader, Union):
            candidates = self._candidates(reader, writer)
            if any(not self.compare(branch, writer, path, within) for branch in candidates):
                return []
            return [self._lacking(reader, writer, path, within)]
        if isinstance(reader, Record) and isinstance(writer, Record):
            return self._names(reader, writer, path, within) + self._records(reader, writer, path, within)
        if isinstance(reader, Enum) and isinstance(writer, Enum):
            return self._names(reader, writer, path, within) + self._enums(reader, writer, path, within)
        if isinstance(reader, Fixed) and isinstance(writer, Fixed):
            names = self._names(reader, writer, path, within)
            if reader.size == writer.size:
                return names
            return [*names, Mismatch("FIXED_SIZE_MISMATCH", f"{path}/size", within, reader, writer)]
        if isinstance(reader, Array) and isinstance(writer, Array):
            return self.compare(reader.items, writer.items, f"{path}/items", f"{within}[]")
        if isinstance(reader, Map) and isinstance(writer, Map):
            return self.compare(reader.values, writer.values, f"{path}/values", f"{within}{{}}")
        if (
            isinstance(reader, Primitive)
            and isinstance(writer, Primitive)
            and (reader.kind == writer.kind or writer.kind in _PROMOTIONS.get(reader.kind, ()))
        ):
            return []
        return [Mismatch("TYPE_MISMATCH", path or "/", within, reader, writer)]

    def _from_union(self, reader: AvroType, writer: Union, path: str, within: str) -> list[Mismatch]:
        """Every branch that may have been written must be readable."""
        found: list[Mismatch] = []
        for position, branch in enumerate(writer.branches):
            mismatches = self.compare(reader, branch, path, within)
            if not mismatches:
                continue
            if isinstance(reader, Union):
                found.append(self._lacking(reader, branch, f"{path}/{position}", within))
            else:
                found += [
                    replace(mismatch, one_of=writer) if mismatch.path == (path or "/") else mismatch
                    for mismatch in mismatches
                ]
        return found

    def _candidates(self, union: Union, writer: AvroType) -> list[AvroType]:
        """The branches that could read it by name or kind; the others are skipped."""
        branches = self._branches.get(id(union))
        if branches is None:
            branches = self._branches[id(union)] = {}
            for branch in union.branches:
                for key in _keys_read(branch):
                    branches.setdefault(key, []).append(branch)
        if isinstance(writer, NamedType):
            named = branches.get((writer.kind, writer.name.simple), [])
            return named + branches.get((writer.kind, f"alias {writer.name.full}"), [])
        return branches.get((writer.kind, ""), [])

    def _lacking(self, reader: Union, writer: AvroType, path: str, within: str) -> Mismatch:
        namesake = next(
            (branch for branch in self._candidates(reader, writer) if branch.kind == writer.kind), None
        )
        inner = self.compare(namesake, writer, path, within)[:1] if namesake else []
        return Mismatch(
            "MISSING_UNION_BRANCH", path or "/", within, reader, writer, inner=inner[0] if inner else None
        )

    def _records(self, reader: Record, writer: Record, path: str, within: str) -> list[Mismatch]:
        found: list[Mismatch] = []
        written = {field.name: field for field in writer.fields}
        prefix = f"{within}." if path else ""
        for position, field in enumerate(reader.fields):
            where = f"{path}/fields/{position}"
            names = (field.name, *field.aliases)
            source = next((written[name] for name in names if name in written), None)
            if source is not None:
                found += self.compare(field.type, source.type, f"{where}/type", prefix + field.name)
            elif field.default is MISSING:
                found.append(
                    Mismatch(
                        "READER_FIELD_MISSING_DEFAULT_VALUE",
                        where,
                        prefix + field.name,
                        reader,
                        writer,
                        field,
                    )
                )
        return found

    @staticmethod
    def _enums(reader: Enum, writer: Enum, path: str, within: str) -> list[Mismatch]:
        known = set(reader.symbols)
        lacking = tuple(symbol for symbol in writer.symbols if symbol not in known)
        if not lacking or reader.default is not None:
            return []
        return [
            Mismatch("MISSING_ENUM_SYMBOLS", f"{path}/symbols", within, reader, writer, symbols=lacking),
        ]

    @staticmethod
    def _names(reader: NamedType, writer: NamedType, path: str, within: str) -> list[Mismatch]:
        """Compares only the last part of the names, as Avro's Java library does, or an alias of the reader."""
        if reader.name.simple == writer.name.simple:
            return []
        if any(alias.full == writer.name.full for alias in reader.aliases):
            return []
        return [Mismatch("NAME_MISMATCH", f"{path}/name", within, reader, writer)]


def _keys_read(branch: AvroType) -> list[tuple[str, str]]:
    """The types a union branch may read, by kind, and by name where the type has one."""
    if isinstance(branch, NamedType):
        aliases = [(branch.kind, f"alias {alias.full}") for alias in branch.aliases]
        return [(branch.kind, branch.name.simple), *aliases]
    return [(kind, "") for kind in (branch.kind, *_PROMOTIONS.get(branch.kind, ()))]
