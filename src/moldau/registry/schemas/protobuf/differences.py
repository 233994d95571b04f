"""Finds what prevents data written with one Protobuf schema from being read with another.

`original` is the writer's schema, `update` the reader's. Fields are matched by number, messages by name. The rules
and their names are those of Confluent's registry, and so is the decision which of them break a reader. Changes that
matter only to people (a renamed field, a new enum value) are not differences here.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from moldau.registry.schemas.protobuf.symbols import Symbol, Symbols
from moldau.registry.schemas.protobuf.syntax import SCALARS, Enum, Field, Message, ProtoFile

_GROUPS = {
    "number": ("int32", "int64", "uint32", "uint64", "bool"),
    "signed number": ("sint32", "sint64"),
    "text": ("string", "bytes"),
    "fixed32": ("fixed32", "sfixed32"),
    "fixed64": ("fixed64", "sfixed64"),
    "float": ("float",),
    "double": ("double",),
}
"""Scalars that have the same encoding and may replace each other."""
_GROUP_OF = {scalar: group for group, scalars in _GROUPS.items() for scalar in scalars}


@dataclass(frozen=True, slots=True)
class Difference:
    """A broken rule. `original` and `update` say what each side has, as text."""

    rule: str
    path: str
    within: str
    original: str = ""
    update: str = ""


def alternatives_to(scalar: str) -> tuple[str, ...]:
    """Other scalars that can read the same bytes."""
    return tuple(other for other in _GROUPS.get(_GROUP_OF.get(scalar, ""), ()) if other != scalar)


@dataclass(frozen=True, slots=True)
class Side:
    file: ProtoFile
    symbols: Symbols


@dataclass(frozen=True, slots=True)
class Scope:
    """The scope in which a field's type is resolved: this message of this package."""

    package: str
    names: Sequence[str]


class Comparison:
    def __init__(self, original: Side, update: Side) -> None:
        self._original = original
        self._update = update
        self._under_way: set[tuple[int, int]] = set()
        self._done: dict[tuple[int, int], list[Difference]] = {}
        self._path: list[str] = []

    def differences(self) -> list[Difference]:
        original, update = self._original.file, self._update.file
        found: list[Difference] = []
        if (original.package or "") != (update.package or ""):
            found.append(
                self._found(
                    "PACKAGE_CHANGED", "the package", original.package or "none", update.package or "none"
                )
            )
        scopes = (Scope(original.package or "", ()), Scope(update.package or "", ()))
        return [*found, *self._messages(original.messages, update.messages, *scopes)]

    def _messages(
        self, original: Iterable[Message], update: Iterable[Message], was: Scope, now: Scope
    ) -> list[Difference]:
        there = {message.name: message for message in update if not message.is_map_entry}
        found: list[Difference] = []
        for message in original:
            if message.is_map_entry:
                continue
            with self._at(message.name):
                if message.name not in there:
                    found.append(
                        self._found(
                            "MESSAGE_REMOVED", f"message {_named(was.names, message.name)}", "there", "gone"
                        )
                    )
                    continue
                found += self._message(
                    message,
                    there[message.name],
                    Scope(was.package, (*was.names, message.name)),
                    Scope(now.package, (*now.names, message.name)),
                )
        return found

    def _message(self, original: Message, update: Message, was: Scope, now: Scope) -> list[Difference]:
        pair = (id(original), id(update))
        if pair in self._done:
            return self._done[pair][:1]
        if pair in self._under_way:
            return []
        self._under_way.add(pair)
        found = [*self._oneofs(original, update, now), *self._fields(original, update, was, now)]
        found += self._messages(original.messages, update.messages, was, now)
        self._under_way.remove(pair)
        self._done[pair] = found
        return found

    def _oneofs(self, original: Message, update: Message, now: Scope) -> Iterator[Difference]:
        """Fields that could be set together and no longer can."""
        home = {field.number: oneof for field, oneof in original.all_fields()}
        for oneof in update.oneofs:
            known = [field for field in oneof.fields if field.number in home]
            alone = [field for field in known if home[field.number] is None]
            groups = len(alone) + len({home[field.number] for field in known} - {None})
            if groups < 2:
                continue
            rule = "MULTIPLE_FIELDS_MOVED_TO_ONEOF" if len(alone) > 1 else "FIELD_MOVED_TO_EXISTING_ONEOF"
            moved = ", ".join(field.name for field in alone or known)
            with self._at(oneof.name):
                yield self._found(rule, f"oneof {_named(now.names, oneof.name)}", moved, moved)

    def _fields(self, original: Message, update: Message, was: Scope, now: Scope) -> list[Difference]:
        before = {field.number: (field, oneof) for field, oneof in original.all_fields()}
        after = {field.number: (field, oneof) for field, oneof in update.all_fields()}
        emptied = {
            oneof.name
            for oneof in original.oneofs
            if all(other.name != oneof.name for other in update.oneofs)
            and not any(field.number in after for field in oneof.fields)
        }
        found: list[Difference] = []
        for number in sorted(before.keys() | after.keys()):
            if number not in after:
                found += self._removed(*before[number], was, emptied)
            elif number not in before:
                field, oneof = after[number]
                if field.label == "required" and oneof is None:
                    with self._at(str(number)):
                        found.append(self._about("REQUIRED_FIELD_ADDED", field, now, "absent", "required"))
            else:
                oneof = after[number][1]
                with self._at(*([oneof] if oneof else []), str(number)):
                    found += self._field(before[number][0], after[number][0], was, now)
        return found

    def _removed(
        self, field: Field, oneof: str | None, was: Scope, emptied: set[str]
    ) -> Iterator[Difference]:
        if oneof is not None:
            if oneof not in emptied:
                with self._at(oneof, str(field.number)):
                    yield self._about("ONEOF_FIELD_REMOVED", field, was, f"in oneof {oneof}", "gone")
        elif field.label == "required":
            with self._at(str(field.number)):
                yield self._about("REQUIRED_FIELD_REMOVED", field, was, "required", "gone")

    def _field(self, original: Field, update: Field, was: Scope, now: Scope) -> list[Difference]:
        before, after = self._kind(original, was, self._original), self._kind(update, now, self._update)
        if before != after:
            return [self._about("FIELD_KIND_CHANGED", update, now, original.type_shown, update.type_shown)]
        if before == "map":
            keys = self._scalars(
                Field(None, original.key_type or "", original.name, original.number),
                Field(None, update.key_type or "", update.name, update.number),
                was,
                now,
            )
            values = (
                Field(None, original.type, original.name, original.number),
                Field(None, update.type, update.name, update.number),
            )
            return [*keys, *self._field(*values, was, now)]
        if before == "scalar":
            return self._scalars(original, update, was, now)
        return self._named_types(original, update, was, now)

    @staticmethod
    def _kind(field: Field, scope: Scope, side: Side) -> str:
        if field.key_type is not None:
            return "map"
        if field.type in SCALARS:
            return "scalar"
        found = side.symbols.find(field.type, scope.names, scope.package)
        return "scalar" if found is not None and isinstance(found.node, Enum) else "message"

    def _scalars(self, original: Field, update: Field, was: Scope, now: Scope) -> list[Difference]:
        """An enum is encoded as a number."""
        before, after = _GROUP_OF.get(original.type, "number"), _GROUP_OF.get(update.type, "number")
        if before != after:
            return [self._about("FIELD_SCALAR_KIND_CHANGED", update, now, original.type, update.type)]
        labels = (original.label, update.label)
        if None not in labels and original.label != update.label and before != "text":
            return [self._about("FIELD_NUMERIC_LABEL_CHANGED", update, now, str(labels[0]), str(labels[1]))]
        return []

    def _named_types(self, original: Field, update: Field, was: Scope, now: Scope) -> list[Difference]:
        before = self._original.symbols.find(original.type, was.names, was.package)
        after = self._update.symbols.find(update.type, now.names, now.package)
        changed = self._about("FIELD_NAMED_TYPE_CHANGED", update, now, original.type, update.type)
        if before is None or after is None:
            return [] if original.type == update.type else [changed]
        if before.local_name != after.local_name:
            return [changed]
        if before.is_local and after.is_local:
            # Compared as a message of the file itself.
            return []
        inner = self._imported(before, after)
        return [*inner, changed] if inner else []

    def _imported(self, before: Symbol, after: Symbol) -> list[Difference]:
        assert isinstance(before.node, Message) and isinstance(after.node, Message)
        kept, self._path = self._path, list(before.scope)
        found = self._message(
            before.node, after.node, Scope(before.package, before.scope), Scope(after.package, after.scope)
        )
        self._path = kept
        return found

    def _about(self, rule: str, field: Field, scope: Scope, original: str, update: str) -> Difference:
        return self._found(
            rule, f"field {_named(scope.names, field.name)} = {field.number}", original, update
        )

    def _found(self, rule: str, within: str, original: str, update: str) -> Difference:
        return Difference(rule, "#/" + "/".join(self._path), within, original, update)

    @contextmanager
    def _at(self, *parts: str) -> Iterator[None]:
        self._path += parts
        yield
        del self._path[len(self._path) - len(parts) :]


def _named(scope: Sequence[str], name: str) -> str:
    return ".".join([*scope, name])
