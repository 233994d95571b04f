"""Checks of a single node: invalid topic names, values that are no serdes or functions, functions with the wrong
arguments. Every message begins with the user's line.
"""

import inspect
import re
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from typing import Any

from moldau.core.errors import ConfigError
from moldau.pipeline.plan import nodes as plan
from moldau.pipeline.plan.expressions import Expression
from moldau.pipeline.plan.location import Location
from moldau.pipeline.serdes.primitives import BOOLEAN, BYTES, DOUBLE, JSON, LONG, STRING
from moldau.pipeline.serdes.serde import Serde

NAME_LENGTH_MAX = 249
_NAME = re.compile(r"[A-Za-z0-9._-]+")

NATURAL: dict[type, Serde] = {
    str: STRING,
    int: LONG,
    float: DOUBLE,
    bool: BOOLEAN,
    bytes: BYTES,
    dict: JSON,
    list: JSON,
}
"""The default serde of each plain type."""

RECORD, VALUE = ("key", "value"), ("value",)
FOLD = ("key", "value", "so far")
REDUCE = ("so far", "value")
SIDES = ("left", "right")

_TAKES: dict[type[plan.Node], dict[str, tuple[str, ...]]] = {
    plan.Source: {"timestamp": ("value", "record timestamp")},
    plan.GlobalTable: {"timestamp": ("value", "record timestamp")},
    plan.Sink: {"topic_of": ("key", "value", "context"), "partition_of": ("topic", "key", "value")},
    plan.Filter: {"predicate": RECORD},
    plan.Map: {"mapper": RECORD},
    plan.MapValues: {"mapper": VALUE},
    plan.FlatMap: {"mapper": RECORD},
    plan.FlatMapValues: {"mapper": VALUE},
    plan.SelectKey: {"mapper": RECORD},
    plan.Peek: {"action": RECORD},
    plan.Split: {"predicates": RECORD},
    plan.Process: {"supplier": ()},
    plan.Aggregate: {"initializer": (), "adder": FOLD},
    plan.WindowAggregate: {"initializer": (), "adder": FOLD},
    plan.SessionAggregate: {"initializer": (), "adder": FOLD, "merger": ("key", "one", "other")},
    plan.TableFilter: {"predicate": RECORD},
    plan.TableMapValues: {"mapper": VALUE},
    plan.TableTransformValues: {"supplier": ()},
    plan.TableToStream: {"mapper": RECORD},
    plan.TableGroup: {"mapper": RECORD},
    plan.TableAggregate: {"initializer": (), "adder": FOLD, "subtractor": FOLD},
    plan.StreamJoin: {"joiner": SIDES},
    plan.StreamTableJoin: {"joiner": SIDES},
    plan.StreamGlobalJoin: {"joiner": SIDES, "selector": RECORD},
    plan.TableJoin: {"joiner": SIDES},
    plan.Transform: {"function": ("df",)},
    plan.ForeignKeySubscribe: {"extractor": VALUE},
    plan.ForeignKeyResolve: {"joiner": SIDES},
}
"""The arguments of each function of the user, without the optional key in front; see `_arguments`."""


def check_node(node: plan.Node) -> None:
    check_name("name", node.name, node.where)
    for topic in _topics(node):
        check_name("topic", topic, node.where)
    for store in node.stores():
        check_name("store", store.name, node.where)
        for serde in (store.key_serde, store.value_serde):
            check_serde(serde, node.where)
    for field in fields(node):
        given = getattr(node, field.name)
        if field.name in _TAKES.get(type(node), {}):
            for rule in given if isinstance(given, tuple) else (given,):
                _check_rule(node, field.name, rule)
        elif field.name.endswith("_serde"):
            check_serde(given, node.where)
    if isinstance(node, plan.Process):
        _check_processor(node)


def check_name(what: str, name: object, where: Location) -> None:
    """Checks names of topics, and names that become part of a topic name."""
    if isinstance(name, re.Pattern):
        raise ConfigError(
            f"{where}: only stream() takes a pattern, as its only argument: a table needs one topic"
        )
    if not isinstance(name, str):
        raise ConfigError(f"{where}: {name!r} is no {what}: give names as strings, one by one")
    if not _NAME.fullmatch(name) or name in (".", "..") or len(name) > NAME_LENGTH_MAX:
        raise ConfigError(
            f"{where}: the {what} {name!r} cannot be a topic name, or part of one: use letters, digits, '.', '_' "
            f"and '-', at most {NAME_LENGTH_MAX} of them"
        )


def store_names(given: Sequence[str], where: Location) -> tuple[str, ...]:
    if isinstance(given, str):
        raise ConfigError(f"{where}: stores= takes a list of names: stores=[{given!r}]")
    return tuple(given)


def check_serde(serde: object, where: Location) -> None:
    if serde is not None and not isinstance(serde, Serde):
        raise ConfigError(
            f"{where}: {_shown(serde)} is no serde: use STRING, LONG, JSON and their kind of moldau.pipeline.streams"
        )


def serde_of_result(
    function: object, given: Serde | None, before: Serde | None, where: Location
) -> Serde | None:
    """The serde of a function's results: the one that the user names, else the previous one. Raises ConfigError if the
    function is annotated with a type that this one cannot write."""
    check_serde(given, where)
    serde, returned = given or before, _returned(function)
    if serde is None or not serde.takes or not returned or returned & serde.takes:
        return serde
    if given is None:
        return next((NATURAL[one] for one in returned if one in NATURAL), before)
    names = " or ".join(sorted(one.__name__ for one in returned))
    raise ConfigError(
        f"{where}: {_shown(function)} gives {names}, which {given.name} cannot write: "
        "say value= with the serde of what comes out"
    )


def check_start(initializer: Callable[[], Any] | None, serde: Serde, where: Location) -> None:
    """The serde of an aggregate must be able to write its initial value."""
    if callable(initializer) and serde.takes:
        start = initializer()
        if start is not None and type(start) not in serde.takes:
            raise ConfigError(
                f"{where}: this aggregate starts as {start!r}, which {serde.name} cannot write: "
                "say value= with the serde of the aggregate"
            )


def _topics(node: plan.Node) -> Iterable[object]:
    match node:
        case plan.Source(pattern=""):
            return node.topics
        case plan.GlobalTable():
            return (node.topic,)
        case plan.Sink(topic=topic) if topic is not None:
            return (topic,)
    return ()


def _check_rule(node: plan.Node, field: str, rule: object) -> None:
    if rule is None:
        return
    if isinstance(rule, Expression):
        try:
            rule.evaluator()
        except ConfigError as failure:
            raise ConfigError(f"{node.where}: {failure}") from None
        return
    wanted = _arguments(node, field)
    told = f"a function of ({', '.join(wanted)})" if wanted else "a function without arguments"
    if not callable(rule):
        raise ConfigError(f"{node.where}: the {field} here must be {told}, not {rule!r}")
    try:
        signature = inspect.signature(rule)
    except (TypeError, ValueError):
        return  # some built-in functions have no signature
    try:
        signature.bind(*wanted)
    except TypeError:
        hint = "; with_key=True adds the key" if hasattr(node, "with_key") and not node.with_key else ""
        raise ConfigError(
            f"{node.where}: the {field} here must be {told}{hint}; {_shown(rule)} takes {signature}"
        ) from None


def _arguments(node: plan.Node, field: str) -> tuple[str, ...]:
    wanted = _TAKES[type(node)][field]
    if getattr(node, "with_key", False) and field in ("mapper", "joiner"):
        return ("key", *wanted)
    if wanted is FOLD and getattr(node, "initializer", ()) is None:
        return REDUCE
    return wanted


def _check_processor(node: plan.Process) -> None:
    processor = node.supplier()
    if not callable(getattr(processor, "process", None)):
        raise ConfigError(f"{node.where}: {_shown(processor)} has no process(record), so it is no processor")
    if node.supplier() is processor:
        raise ConfigError(
            f"{node.where}: {_shown(node.supplier)} gives the same processor twice: each task needs one of its own"
        )


def _returned(function: object) -> frozenset[type]:
    """The annotated result types of a function. Empty if it has no annotation or one that is not a plain type."""
    if isinstance(function, type):
        return frozenset({function})
    try:
        said = typing.get_type_hints(function).get("return")
    except (NameError, TypeError, AttributeError):
        return frozenset()
    return frozenset(_plain(said))


def _plain(said: object) -> Iterator[type]:
    if isinstance(said, types.UnionType) or typing.get_origin(said) is typing.Union:
        for one in typing.get_args(said):
            yield from _plain(one)
        return
    origin = typing.get_origin(said) or said
    if isinstance(origin, type) and origin is not types.NoneType:
        yield origin


def _shown(thing: object) -> str:
    name = getattr(thing, "__qualname__", None)
    if isinstance(name, str):
        return f"`{name.rpartition('.')[2]}`"
    return repr(thing)
