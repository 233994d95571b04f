"""How a function of the user is called: conversions, nulls, its time limit, and what becomes of a failure.

A call travels to the workers as the text of its file and its place in there: a worker needs no copy of the file, and a
changed file does not change queries that run.
"""

import traceback
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

from moldau.core.errors import MoldauError
from moldau.pipeline.operators.failures import PASSED_ON, DoesNotReturn
from moldau.pipeline.sql.functions.declaration import Pattern
from moldau.pipeline.sql.functions.user.columns import columns_reader, values_of
from moldau.pipeline.sql.functions.user.hints import Shape
from moldau.pipeline.sql.functions.user.limits import within
from moldau.pipeline.sql.functions.user.options import Options
from moldau.pipeline.sql.functions.user.signatures import Argument
from moldau.pipeline.sql.functions.user.values import reader, writer
from moldau.pipeline.sql.types import SqlType

FAILED: Final = (Exception, DoesNotReturn, SystemExit)


class FunctionFailed(MoldauError):
    """A function with `on_error="dead_letter"` has failed: the record goes where the pipeline puts those it cannot
    process."""


class Declared(Protocol):
    """A function as its decorator found it."""

    name: str
    options: Options

    @property
    def place(self) -> tuple[Any, ...]:
        """Where it is defined, to find it in another process: arguments of `found_again`."""

    def leading(self) -> tuple[Any, ...]:
        """What the function gets before the arguments of the statement."""


class Guarded:
    """Calls code of the user within its time limit; a failure becomes what the options say."""

    def __init__(self, declared: Declared, function: Callable[..., Any]) -> None:
        self._declared = declared
        self._function = function
        self._limit_s = declared.options.time_limit_ms / 1000
        self._has_setup = declared.options.setup is not None

    def call(self, arguments: tuple[Any, ...]) -> Any:
        if self._has_setup:
            arguments = (*self._declared.leading(), *arguments)
        return within(self._limit_s, self._function, arguments)

    def failure(self, failure: BaseException) -> BaseException:
        """ValueError makes the expression NULL, and the processing log says why."""
        if isinstance(failure, PASSED_ON):
            return failure
        text = f"{self._declared.name}: {self._reason(failure)}"
        return FunctionFailed(text) if self._declared.options.on_error == "dead_letter" else ValueError(text)

    def _reason(self, failure: BaseException) -> str:
        if isinstance(failure, DoesNotReturn):
            return f"has not returned within {self._declared.options.time_limit_ms} ms"
        file = self._declared.place[1]
        lines = [one.lineno for one in traceback.extract_tb(failure.__traceback__) if one.filename == file]
        where = f" ({file}, line {lines[-1]})" if lines else ""
        return f"{type(failure).__name__}: {failure}{where}"


class Call:
    """One form of a function, for arguments of known types: what the compiled expression calls."""

    def __init__(
        self,
        declared: Declared,
        function: Callable[..., Any],
        arguments: Sequence[Argument],
        result: Pattern,
        types: Sequence[SqlType | None],
        *,
        shape: Shape = Shape.ONE,
        gives_rows: bool = False,
    ) -> None:
        self._declared = declared
        self._guarded = Guarded(declared, function)
        self._types = tuple(types)
        self._form = len(arguments)
        repeated = len(self._types) - len(arguments)
        each = [*arguments, *([arguments[-1]] * repeated if repeated > 0 else [])][: len(self._types)]
        self._strict = tuple(index for index, one in enumerate(each) if not one.hint.takes_null)
        readers = [reader(kind, one.hint.python) for kind, one in zip(self._types, each, strict=True)]
        self._readers = readers if any(readers) else None
        self._columns = None if shape is Shape.ONE else columns_reader(shape, self._types)
        self._write = writer(result)
        self._gives_rows = gives_rows

    def __call__(self, *values: Any) -> Any:
        for index in self._strict:
            if values[index] is None:
                return None
        try:
            if self._columns is not None:
                [found] = self._vectorised([values])
                return self._write(found)
            found = self._guarded.call(values if self._readers is None else self._converted(values))
            if self._gives_rows:
                return None if found is None else [self._write(one) for one in found]
            return self._write(found)
        except FAILED as failure:
            raise self._guarded.failure(failure) from failure

    def of_batch(self, rows: Sequence[tuple[Any, ...]]) -> list[Any]:
        """The results for many rows; a function of columns is called once for all of them."""
        if self._columns is None:
            return [self(*values) for values in rows]
        complete = [
            index for index, values in enumerate(rows) if all(values[one] is not None for one in self._strict)
        ]
        results: list[Any] = [None] * len(rows)
        if not complete:
            return results
        try:
            found = self._vectorised([rows[index] for index in complete])
            for index, one in zip(complete, found, strict=True):
                results[index] = self._write(one)
        except FAILED as failure:
            raise self._guarded.failure(failure) from failure
        return results

    def _vectorised(self, rows: Sequence[tuple[Any, ...]]) -> list[Any]:
        assert self._columns is not None
        columns = zip(*(self._converted(values) for values in rows), strict=True)
        return values_of(self._guarded.call(self._columns(list(columns))), len(rows))

    def _converted(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        if self._readers is None:
            return values
        return tuple(
            value if read is None or value is None else read(value)
            for value, read in zip(values, self._readers, strict=True)
        )

    def __reduce__(self) -> tuple[Any, ...]:
        from moldau.pipeline.sql.functions.user.modules import call_again

        return call_again, (*self._declared.place, self._form, self._types)
