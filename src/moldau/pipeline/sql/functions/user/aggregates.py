"""The steps of an aggregate of the user, as the engine calls them."""

import copy
import logging
from collections.abc import Sequence
from typing import Any, Final, Protocol

from moldau.pipeline.sql.functions.declaration import Pattern
from moldau.pipeline.sql.functions.user.calls import FAILED, Declared, Guarded
from moldau.pipeline.sql.functions.user.signatures import Argument
from moldau.pipeline.sql.functions.user.values import reader, writer
from moldau.pipeline.sql.types import SqlType

log = logging.getLogger("moldau.sql.processing")

METHODS: Final = ("initial", "add", "remove", "merge", "result")


class DeclaredClass(Declared, Protocol):
    def instance(self, constants: tuple[Any, ...]) -> Any: ...


class Step:
    """One method of the class. A row that `add` cannot take is left out, or fails the record."""

    def __init__(
        self,
        declared: DeclaredClass,
        method: str,
        constants: tuple[Any, ...],
        arguments: Sequence[Argument],
        result: Pattern,
    ) -> None:
        self._declared = declared
        self._method = method
        self._constants = constants
        self._guarded = Guarded(declared, self._run)
        kinds = [one.hint.type for one in arguments]
        self._readers = [
            reader(kind, one.hint.python) if isinstance(kind, SqlType) else None
            for kind, one in zip(kinds, arguments, strict=True)
        ]
        self._strict = [index for index, one in enumerate(arguments) if not one.hint.takes_null]
        self._write = writer(result) if method == "result" else None

    def __call__(self, *given: Any) -> Any:
        if self._method in ("add", "remove"):
            return self._changed(given[0], given[1:])
        try:
            found = self._guarded.call(given)
            return found if self._write is None else self._write(found)
        except FAILED as failure:
            raise self._guarded.failure(failure) from failure

    def _changed(self, state: Any, values: tuple[Any, ...]) -> Any:
        if any(values[index] is None for index in self._strict):
            return state
        read = [
            value if convert is None or value is None else convert(value)
            for value, convert in zip(values, self._readers, strict=False)
        ]
        try:
            return self._guarded.call((_own(state), *read))
        except FAILED as failure:
            known = self._guarded.failure(failure)
            if not isinstance(known, ValueError):
                raise known from failure
            log.warning("%s; the row is left out", known)
            return state

    def _run(self, *given: Any) -> Any:
        method = getattr(self._declared.instance(self._constants), self._method, None)
        if method is None:
            raise NotImplementedError(f"it has no method {self._method}, which session windows need")
        return method(*given)

    def __reduce__(self) -> tuple[Any, ...]:
        from moldau.pipeline.sql.functions.user.modules import step_again

        return step_again, (*self._declared.place, self._method, self._constants)


def _own(state: Any) -> Any:
    """A copy that the user's code may change: the engine may still need the old state."""
    return copy.deepcopy(state) if isinstance(state, list | dict) else state
