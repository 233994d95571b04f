"""Functions by name: the built-in ones, and those of the user beside them.

A library is a value. A statement is analysed with the library of its time, so a function that is loaded again changes
the next statement and no running query.
"""

import importlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from types import MappingProxyType

from moldau.pipeline.sql.functions.declaration import Function


class Library:
    """Finds functions by name, in any case."""

    def __init__(self, built_in: Iterable[Function], user: Iterable[Function] = ()) -> None:
        self._built_in = _by_name(built_in)
        self._user = _by_name(user)
        self._all = {**self._user, **self._built_in}

    def find(self, name: str) -> Function | None:
        return self._all.get(name.upper())

    def names(self) -> list[str]:
        return sorted(self._all)

    def all(self) -> list[Function]:
        """All functions, by name."""
        return [self._all[name] for name in self.names()]

    def __iter__(self) -> Iterator[Function]:
        return iter(self.all())

    def __len__(self) -> int:
        return len(self._all)

    def is_user(self, name: str) -> bool:
        return name.upper() in self._user and name.upper() not in self._built_in

    @property
    def user_functions(self) -> list[Function]:
        return [self._user[name] for name in sorted(self._user) if name not in self._built_in]

    @property
    def hidden(self) -> list[str]:
        """Names of the user's functions that a built-in function has too; the built-in one is found."""
        return sorted(self._user.keys() & self._built_in.keys())

    def with_user(self, functions: Iterable[Function]) -> "Library":
        """A library with these functions of the user as well; one that has the name of an earlier one replaces it.

        A function cannot replace a built-in one: `hidden` names those that tried.
        """
        return Library(self._built_in.values(), (*self._user.values(), *functions))

    def without_user(self) -> "Library":
        """The built-in functions alone."""
        return Library(self._built_in.values())


def _by_name(functions: Iterable[Function]) -> Mapping[str, Function]:
    return MappingProxyType({function.name.upper(): function for function in functions})


@cache
def builtin() -> Library:
    """The functions of the language."""
    return Library(
        (
            *_collected("scalar", "SCALARS"),
            *_collected("aggregate", "AGGREGATES"),
            *_collected("table", "TABLES"),
        )
    )


def _collected(package: str, name: str) -> tuple[Function, ...]:
    try:
        module = importlib.import_module(f"{__package__}.{package}")
    except ModuleNotFoundError:
        return ()
    found: tuple[Function, ...] = getattr(module, name, ())
    return found
