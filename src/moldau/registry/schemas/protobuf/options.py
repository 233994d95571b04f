"""Writes options in one way: names in full and sorted, partial values merged, numbers in decimal."""

from collections.abc import Sequence

from moldau.registry.schemas.protobuf.symbols import Symbols
from moldau.registry.schemas.protobuf.syntax import Aggregate, Option, Value, Word


def normalized_options(options: list[Option], symbols: Symbols, scope: Sequence[str]) -> list[Option]:
    """`(a).b = 1` and `(a).c = 2` become one `(pkg.a) = {b: 1, c: 2}`, unless `a` may be repeated."""
    found: list[Option] = []
    merged: dict[str, int] = {}
    for option in sorted((_qualified(option, symbols, scope) for option in options), key=lambda o: o.name):
        extension = option.extension
        field = symbols.extensions.get(extension) if extension else None
        if field is not None and field.label != "repeated" and option.name in merged:
            index = merged[option.name]
            found[index] = Option(option.name, _merged(found[index].value, option.value))
            continue
        merged[option.name] = len(found)
        found.append(option)
    return found


def _qualified(option: Option, symbols: Symbols, scope: Sequence[str]) -> Option:
    extension = option.extension
    full = symbols.find_extension(extension, scope) if extension else None
    if full is None:
        return option
    inner = option.name[option.name.index(")") + 1 :].lstrip(".")
    value = option.value
    for part in reversed(inner.split(".") if inner else []):
        value = Aggregate(((part, value),))
    return Option(f"({full})", value)


def _merged(first: Value, second: Value) -> Value:
    """The later one wins where both set a value."""
    if not isinstance(first, Aggregate) or not isinstance(second, Aggregate):
        return second
    members = dict(first.members)
    for key, value in second.members:
        members[key] = _merged(members[key], value) if key in members else value
    return Aggregate(tuple(members.items()))


def number_shown(word: str) -> str:
    """A number in decimal; anything else unchanged."""
    digits = word.removeprefix("-")
    sign = word[: len(word) - len(digits)]
    if digits[:2].lower() == "0x":
        return sign + str(int(digits, 16))
    if digits.isdigit():
        return sign + str(int(digits, 8 if digits.startswith("0") and not set(digits) & {"8", "9"} else 10))
    return word


def flag(value: Value | None) -> bool | None:
    return None if not isinstance(value, Word) else value.text == "true"
