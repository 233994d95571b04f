"""`udf`, `udaf` and `udtf`: the decorators that make functions of SQL out of functions and classes of Python.

What is decorated stays what it is and can be called and tested as such.
"""

import inspect
from collections.abc import Callable, Sequence
from typing import Any, Final, TypedDict, TypeVar, Unpack, overload

from moldau.pipeline.sql.functions.declaration import (
    Aggregate,
    AggregateForm,
    Category,
    Folding,
    Form,
    Function,
    Scalar,
    TableFunction,
)
from moldau.pipeline.sql.functions.user.aggregates import METHODS, Step
from moldau.pipeline.sql.functions.user.calls import Call
from moldau.pipeline.sql.functions.user.modules import declare
from moldau.pipeline.sql.functions.user.options import OnError, Options
from moldau.pipeline.sql.functions.user.signatures import Argument, place_of, signature_of, wrong
from moldau.pipeline.sql.functions.user.states import state_of
from moldau.pipeline.sql.types import SqlType

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)


class More(TypedDict, total=False):
    """The options of all decorators."""

    name: str
    doc: str
    author: str
    category: Category
    examples: tuple[str, ...]
    types: dict[str, str]
    returns: str
    is_deterministic: bool
    on_error: OnError
    time_limit_ms: int
    setup: Callable[[], Any]


@overload
def udf(function: F, /) -> F: ...
@overload
def udf(**more: Unpack[More]) -> Callable[[F], F]: ...
def udf(function: Any = None, /, **more: Unpack[More]) -> Any:
    """A scalar function: one value out of the arguments."""
    return _decorated(function, lambda given: DeclaredFunction(given, Options(**more)))


@overload
def udtf(function: F, /) -> F: ...
@overload
def udtf(**more: Unpack[More]) -> Callable[[F], F]: ...
def udtf(function: Any = None, /, **more: Unpack[More]) -> Any:
    """A table function: several rows out of one. It returns a list, or yields."""
    return _decorated(function, lambda given: DeclaredFunction(given, Options(**more), gives_rows=True))


@overload
def udaf(cls: C, /) -> C: ...
@overload
def udaf(**more: Unpack[More]) -> Callable[[C], C]: ...
def udaf(cls: Any = None, /, **more: Unpack[More]) -> Any:
    """An aggregate: a class with `initial`, `add`, `result`, and `merge` for session windows, `remove` for tables.
    Arguments of its constructor are constants that stand last in the call."""
    return _decorated(cls, lambda given: DeclaredAggregate(given, Options(**more)))


def _decorated(thing: Any, declare_it: Callable[[Any], Any]) -> Any:
    def decorate(given: Any) -> Any:
        declare_it(given)
        return given

    return decorate if thing is None else decorate(thing)


class DeclaredFunction:
    """A scalar or a table function."""

    def __init__(self, function: Callable[..., Any], options: Options, *, gives_rows: bool = False) -> None:
        if not inspect.isfunction(function):
            raise wrong(
                function, "a decorator of SQL functions stands before a function; udaf is for classes"
            )
        self.name = _name(function, options)
        self.options = options
        self._function = function
        self._gives_rows = gives_rows
        self._signature = signature_of(
            function,
            leading=0 if options.setup is None else 1,
            returns=options.returns,
            types=options.types,
            gives_rows=gives_rows,
        )
        self.place = declare(function.__module__, self)

    def leading(self) -> tuple[Any, ...]:
        setup = self.options.setup
        return () if setup is None else (state_of((self.place[0], self.place[3]), setup),)

    def call(self, form: int, types: Sequence[SqlType | None]) -> Call:
        """For the form with so many arguments, of these types."""
        return Call(
            self,
            self._function,
            self._signature.arguments[:form],
            self._signature.result.type,
            types,
            shape=self._signature.shape,
            gives_rows=self._gives_rows,
        )

    def declaration(self) -> Function:
        shown = {
            "name": self.name,
            "doc": _doc(self._function, self.options),
            "forms": tuple(self._form(one) for one in self._signature.overloads()),
            "examples": self.options.examples,
            "author": self.options.author,
            "path": place_of(self._function),
        }
        if self._gives_rows:
            return TableFunction(category=Category.TABLE, **shown)  # type: ignore[arg-type]
        return Scalar(
            category=self.options.category,
            takes_null=self._signature.takes_null,
            is_deterministic=self.options.is_deterministic,
            **shown,  # type: ignore[arg-type]
        )

    def _form(self, arguments: tuple[Argument, ...]) -> Form:
        is_variadic = bool(arguments) and arguments[-1].is_variadic
        kinds = [one.hint.type for one in arguments]
        known = [kind if isinstance(kind, SqlType) else None for kind in kinds]
        return Form(
            tuple(one.parameter for one in arguments),
            self._signature.result.type,
            is_variadic,
            meaning=None if is_variadic else self.call(len(arguments), known),
            bind=lambda types: self.call(len(arguments), types),
        )


class DeclaredAggregate:
    def __init__(self, cls: type, options: Options) -> None:
        if not inspect.isclass(cls):
            raise wrong(cls, "udaf stands before a class with initial, add and result; udf is for functions")
        self.name = _name(cls, options)
        self.options = options
        self._class = cls
        for method in ("initial", "add", "result"):
            if not callable(getattr(cls, method, None)):
                raise wrong(cls, f"the method {method} is missing")
        add, result = cls.add, cls.result  # type: ignore[attr-defined]
        self._arguments = signature_of(add, leading=2, returns="BOOLEAN", types=options.types).arguments
        self._result = signature_of(result, leading=2, returns=options.returns).result.type
        has_constants = "__init__" in vars(cls)
        constructor = signature_of(cls.__init__, leading=1, returns="BOOLEAN") if has_constants else None
        self._constants = constructor.arguments if constructor else ()
        self.place = declare(cls.__module__, self)

    def leading(self) -> tuple[Any, ...]:
        return ()

    def instance(self, constants: tuple[Any, ...]) -> Any:
        """One for each process: a class may load a model when it is made."""
        key = (self.place[0], self.place[3], repr(constants))
        return state_of(key, lambda: self._class(*constants))

    def step(self, method: str, constants: tuple[Any, ...]) -> Step:
        return Step(self, method, constants, self._arguments, self._result)

    def declaration(self) -> Aggregate:
        form = AggregateForm(
            tuple(one.parameter for one in (*self._arguments, *self._constants)),
            self._result,
            self._bind,
            constants_from=-len(self._constants) if self._constants else None,
        )
        return Aggregate(
            self.name,
            Category.AGGREGATE,
            _doc(self._class, self.options),
            (form,),
            self.options.examples,
            self.options.author,
            place_of(self._class),
        )

    def _bind(self, types: Sequence[SqlType], constants: Sequence[Any]) -> Folding:
        given = tuple(constants[len(constants) - len(self._constants) :])
        steps = {name: self.step(name, given) for name in METHODS}
        remove = steps["remove"] if callable(getattr(self._class, "remove", None)) else None
        return Folding(steps["initial"], steps["add"], steps["merge"], steps["result"], remove)


DECLARED_KINDS: Final = (DeclaredFunction, DeclaredAggregate)


def _name(thing: Any, options: Options) -> str:
    name = (options.name or _words(thing.__name__)).upper()
    if not name.isidentifier():
        raise wrong(
            thing, f"{name!r} cannot be the name of a function of SQL: use letters, digits and underscores"
        )
    return name


def _words(name: str) -> str:
    """`GeometricMean` as `geometric_mean`."""
    parts = [
        "_" + one if one.isupper() and index and not name[index - 1].isupper() else one
        for index, one in enumerate(name)
    ]
    return "".join(parts).replace("__", "_")


def _doc(thing: Any, options: Options) -> str:
    text = options.doc or inspect.getdoc(thing) or ""
    return " ".join(text.split("\n\n")[0].split())
