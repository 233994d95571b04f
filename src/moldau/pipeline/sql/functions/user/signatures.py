"""The parameters of a function of the user, with their types."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from moldau.core.errors import ConfigError
from moldau.pipeline.sql.functions.declaration import Parameter
from moldau.pipeline.sql.functions.user.hints import Hint, Shape, WrongHint, element_of, evaluated, hint_of


@dataclass(frozen=True, slots=True)
class Argument:
    name: str
    hint: Hint
    has_default: bool = False
    is_variadic: bool = False

    @property
    def parameter(self) -> Parameter:
        return Parameter(self.name, self.hint.type)


@dataclass(frozen=True, slots=True)
class Signature:
    arguments: tuple[Argument, ...]
    result: Hint

    @property
    def shape(self) -> Shape:
        return self.arguments[0].hint.shape if self.arguments else Shape.ONE

    @property
    def takes_null(self) -> bool:
        return any(one.hint.takes_null for one in self.arguments)

    def overloads(self) -> list[tuple[Argument, ...]]:
        """One for each number of arguments: those with a default may be left out from the end on."""
        required = sum(not one.has_default and not one.is_variadic for one in self.arguments)
        if self.arguments and self.arguments[-1].is_variadic:
            return [self.arguments]
        return [self.arguments[:count] for count in range(required, len(self.arguments) + 1)]


def place_of(thing: Any) -> str:
    """`file, line 3` of a function or class."""
    try:
        file, (_, line) = inspect.getfile(thing), inspect.getsourcelines(thing)
    except (OSError, TypeError):
        code = getattr(thing, "__code__", None)
        return f"{code.co_filename}, line {code.co_firstlineno}" if code else repr(thing)
    return f"{file}, line {max(line, 1)}"


def wrong(thing: Any, what: str) -> ConfigError:
    return ConfigError(f"{place_of(thing)}: {getattr(thing, '__name__', thing)}: {what}")


def signature_of(
    function: Callable[..., Any],
    *,
    leading: int = 0,
    returns: str | None = None,
    types: Mapping[str, str] | None = None,
    gives_rows: bool = False,
) -> Signature:
    """`leading` parameters come from the engine, not from the statement. `returns` and `types` replace hints.
    ConfigError with file, line and parameter."""
    said = dict(types or {})
    namespace = getattr(function, "__globals__", {})
    written = inspect.signature(function)
    arguments = []
    for parameter in list(written.parameters.values())[leading:]:
        annotation = said.pop(parameter.name, None) or evaluated(parameter.annotation, namespace)
        arguments.append(_argument(function, parameter, annotation))
    if said:
        raise wrong(function, f"types names {', '.join(said)}, which are no parameters of it")
    result = returns or evaluated(written.return_annotation, namespace)
    signature = Signature(tuple(arguments), _result(function, result, gives_rows=gives_rows))
    _check_shapes(function, signature)
    return signature


def _argument(function: Any, parameter: inspect.Parameter, annotation: Any) -> Argument:
    if annotation is inspect.Parameter.empty:
        raise wrong(
            function, f"parameter {parameter.name} has no type hint, for example {parameter.name}: str"
        )
    if parameter.kind in (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD):
        raise wrong(function, f"parameter {parameter.name} is given by name; SQL gives arguments by place")
    try:
        hint = hint_of(annotation)
    except WrongHint as failure:
        raise wrong(function, f"parameter {parameter.name}: {failure}") from None
    has_default = parameter.default is not inspect.Parameter.empty
    return Argument(parameter.name, hint, has_default, parameter.kind is inspect.Parameter.VAR_POSITIONAL)


def _result(function: Any, annotation: Any, *, gives_rows: bool) -> Hint:
    if annotation is inspect.Signature.empty or annotation is None:
        raise wrong(function, "the type of the result is missing, for example -> str")
    try:
        return hint_of(element_of(annotation) if gives_rows else annotation)
    except WrongHint as failure:
        raise wrong(function, f"the result: {failure}") from None


def _check_shapes(function: Any, signature: Signature) -> None:
    shapes: Sequence[Shape] = [one.hint.shape for one in signature.arguments]
    if len(set(shapes)) > 1:
        raise wrong(function, "all parameters are columns (Series, Array), or none is")
    if any(shape is not Shape.ONE for shape in shapes) and any(
        one.is_variadic for one in signature.arguments
    ):
        raise wrong(function, "a function of columns cannot have *arguments")
