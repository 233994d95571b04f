"""Checks that a topology can be sent to the workers of a cluster.

Functions are sent with copies of the variables that they capture. A variable that cannot be copied is an error with the
user's line. A function that changes a captured variable gets a warning, because it only changes the copy. The test
driver runs the functions where they are and does not need these checks.
"""

import ast
import functools
import linecache
import types
from collections import deque
from collections.abc import Callable, Iterator, MutableMapping, MutableSequence, MutableSet
from dataclasses import fields
from typing import Any, Final

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.nodes import Node, Transform
from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.serdes.serde import Serde

OF_SPARK: Final = frozenset({"Column", "DataFrame", "RDD", "SparkContext", "SparkSession"})
MUTABLE: Final = (MutableMapping, MutableSequence, MutableSet, deque)
MUTATORS: Final = frozenset(
    {
        "add",
        "append",
        "appendleft",
        "clear",
        "difference_update",
        "discard",
        "extend",
        "extendleft",
        "insert",
        "intersection_update",
        "pop",
        "popitem",
        "popleft",
        "remove",
        "reverse",
        "rotate",
        "setdefault",
        "sort",
        "subtract",
        "symmetric_difference_update",
        "update",
    }
)
CURE: Final = "keep it in a store: process(..., stores=[...])"


def check_travels(topology: Topology, dumps: Callable[[Any], bytes]) -> list[str]:
    """Raises ConfigError for what `dumps`, which pickles functions by value, cannot send. Returns warnings for captured
    variables that a function changes."""
    for node in topology.nodes:
        for function in functions_of(node):
            _check_spark_objects(node, function)
        for field in fields(node):
            given = getattr(node, field.name)
            if isinstance(node, Transform) and given is node.function:
                continue
            failure = _refusal(given, dumps)
            if failure is not None:
                raise ConfigError(_cannot_travel(node, field.name, given, failure, dumps))
    return changed_captures(topology)


def changed_captures(topology: Topology) -> list[str]:
    """A warning for each captured variable that a function changes."""
    told: dict[str, None] = {}
    for node in topology.nodes:
        for function in functions_of(node):
            for name, line in _changes(function, set()):
                told.setdefault(
                    f"{node.where}: {_shown(function)} changes {name!r} (line {line}), a variable from outside of it. "
                    "Each worker changes its own copy, which nobody else sees and which is lost with the worker: "
                    f"{CURE}"
                )
    return list(told)


def functions_of(node: Node) -> Iterator[Any]:
    """The user's functions in a node that are sent to the workers, including classes of processors."""
    if isinstance(node, Transform):
        return
    for field in fields(node):
        given = getattr(node, field.name)
        for one in given if isinstance(given, tuple) else (given,):
            yield from _users_own(one)


def _users_own(given: Any) -> Iterator[Any]:
    """A function of the user, or the ones that a function of ours has captured."""
    if not callable(given) or isinstance(given, Serde):
        return
    if not (getattr(given, "__module__", None) or "").startswith("moldau.pipeline."):
        yield given
    elif isinstance(given, types.FunctionType):
        for cell in given.__closure__ or ():
            yield from _users_own(cell.cell_contents)


def captured(function: Any) -> dict[str, Any]:
    """The captured variables of a function by name: from enclosing functions and from its module."""
    found: dict[str, Any] = {}
    for one in _plain_functions(function):
        for name, cell in zip(one.__code__.co_freevars, one.__closure__ or (), strict=True):
            try:
                found[name] = cell.cell_contents
            except ValueError:
                continue  # not assigned yet
        for name in _globals_read(one.__code__):
            if name in one.__globals__:
                found.setdefault(name, one.__globals__[name])
    return found


def _plain_functions(function: Any) -> Iterator[types.FunctionType]:
    match function:
        case functools.partial():
            yield from _plain_functions(function.func)
        case types.MethodType():
            yield from _plain_functions(function.__func__)
        case types.FunctionType():
            yield function
        case type():
            for one in vars(function).values():
                if isinstance(one, types.FunctionType):
                    yield one


def _globals_read(code: types.CodeType) -> Iterator[str]:
    import dis

    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _globals_read(constant)


def _check_spark_objects(node: Node, function: Any) -> None:
    for name, value in captured(function).items():
        kind = type(value)
        if kind.__module__.partition(".")[0] == "pyspark" and kind.__name__ in OF_SPARK:
            raise ConfigError(
                f"{node.where}: {_shown(function)} uses {name!r}, a {kind.__name__} of Spark, which exists only in the "
                "program that starts Spark, not in its workers. Bring its rows in as a topic, with table() or "
                "global_table(); or collect() a small one into a dict outside of the function"
            )


def _cannot_travel(
    node: Node, field: str, given: Any, failure: Exception, dumps: Callable[[Any], bytes]
) -> str:
    why = f"{type(failure).__name__}: {failure}"
    for function in functions_of(node):
        found = _culprit(function, dumps, set())
        if found is not None:
            name, value = found
            return (
                f"{node.where}: {_shown(function)} uses {name!r}, a {type(value).__name__}, which cannot be sent to "
                f"the workers ({why}). Create it there: inside the function, or in init() of a processor"
            )
    return (
        f"{node.where}: the {field} of {node.name} cannot be sent to the workers ({why}): {_shown(given)}. "
        "Use a function, or a class of a module, that can be pickled"
    )


def _culprit(function: Any, dumps: Callable[[Any], bytes], seen: set[int]) -> tuple[str, Any] | None:
    """The variable that cannot be pickled. If functions use others, the innermost one."""
    seen.add(id(function))
    for name, value in captured(function).items():
        if id(value) in seen or _refusal(value, dumps) is None:
            continue
        return _culprit(value, dumps, seen) or (name, value)
    return None


def _refusal(value: Any, dumps: Callable[[Any], bytes]) -> Exception | None:
    try:
        dumps(value)
    except Exception as failure:  # noqa: BLE001 an object may refuse with whatever it likes
        return failure
    return None


def _changes(function: Any, seen: set[int]) -> Iterator[tuple[str, int]]:
    """(variable, line) for each captured variable that a function, or a function of its module that it calls,
    changes."""
    if id(function) in seen:
        return
    seen.add(id(function))
    if isinstance(function, types.BuiltinMethodType) and isinstance(function.__self__, MUTABLE):
        if function.__name__ in MUTATORS:
            yield f"{type(function.__self__).__name__} of .{function.__name__}", 0
        return
    for one in _plain_functions(function):
        around = captured(one)
        for value in around.values():
            if (
                isinstance(value, types.BuiltinMethodType)
                or getattr(value, "__module__", "") == one.__module__
            ):
                yield from _changes(value, seen)
        tree = _tree_of(one.__code__)
        if tree is None:
            continue
        rebound = {
            name for sub in ast.walk(tree) if isinstance(sub, ast.Nonlocal | ast.Global) for name in sub.names
        }
        for sub in ast.walk(tree):
            name = _changed_name(sub, around, rebound)
            if name is not None:
                yield name, sub.lineno  # type: ignore[attr-defined]


def _changed_name(sub: ast.AST, around: dict[str, Any], rebound: set[str]) -> str | None:
    match sub:
        case ast.Call(func=ast.Attribute(value=target, attr=attr)) if attr in MUTATORS:
            name = _root(target)
            return name if name in around and isinstance(around[name], MUTABLE) else None
        case ast.Subscript(value=target, ctx=ast.Store() | ast.Del()):
            name = _root(target)
            return name if name in around and not isinstance(around[name], types.ModuleType) else None
        case ast.Attribute(value=target, ctx=ast.Store() | ast.Del()):
            name = _root(target)
            return name if name in around else None
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) if name in rebound:
            return name
    return None


def _root(target: ast.AST) -> str:
    """The variable that an expression like `seen[key].items` begins with."""
    while isinstance(target, ast.Attribute | ast.Subscript):
        target = target.value
    return target.id if isinstance(target, ast.Name) else ""


def _tree_of(code: types.CodeType) -> ast.AST | None:
    """The syntax tree of a function, if its source can be read."""
    module = _parsed("".join(linecache.getlines(code.co_filename)))
    if module is None:
        return None
    arguments = code.co_varnames[: code.co_argcount]
    found = [
        sub
        for sub in ast.walk(module)
        if isinstance(sub, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        and min([sub.lineno, *(one.lineno for one in getattr(sub, "decorator_list", []))])
        == code.co_firstlineno
        and tuple(one.arg for one in (*sub.args.posonlyargs, *sub.args.args)) == arguments
        and getattr(sub, "name", "<lambda>") == code.co_name
    ]
    if len(found) < 2:
        return found[0] if found else None
    *_, (line, _, column, _) = code.co_positions()
    return next((one for one in found if _holds(one, line or 0, column or 0)), found[0])


def _holds(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, line: int, column: int) -> bool:
    start, end = (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)
    return start <= (line, column) < end


@functools.lru_cache(maxsize=8)
def _parsed(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError):
        return None


def _shown(thing: object) -> str:
    name = getattr(thing, "__qualname__", None)
    short = name.rpartition(".")[2] if isinstance(name, str) else repr(thing)
    return "the lambda" if short == "<lambda>" else f"`{short}`"
