"""Finds functions of the user: in files, in folders, and in installed packages.

A package offers its functions as an entry point of the group `moldau.sql.functions` that names a module. A file that
has changed is another module when it is loaded again: new statements get the new functions, and queries that run keep
theirs until they start again.
"""

import traceback
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Final

from moldau.core.errors import ConfigError
from moldau.pipeline.sql.functions.declaration import Function
from moldau.pipeline.sql.functions.library import Library, builtin
from moldau.pipeline.sql.functions.user.decorators import DeclaredAggregate, DeclaredFunction
from moldau.pipeline.sql.functions.user.merging import merged
from moldau.pipeline.sql.functions.user.modules import declared_in, module_name, module_of

GROUP: Final = "moldau.sql.functions"


@dataclass(frozen=True, slots=True)
class Loaded:
    functions: tuple[Function, ...] = ()
    errors: tuple[str, ...] = ()
    """Of files that could not be loaded, each with file and line; the functions of the others are there."""


def library_of(paths: Sequence[str], *, with_packages: bool = True) -> Library:
    """The built-in functions with those of the user. ConfigError where a file cannot be loaded."""
    loaded = load(paths, with_packages=with_packages)
    if loaded.errors:
        raise ConfigError("\n".join(loaded.errors))
    return builtin().with_user(loaded.functions)


def load(paths: Sequence[str], *, with_packages: bool = True) -> Loaded:
    """From files, folders and packages. What cannot be loaded is among the errors, and the rest is loaded."""
    declared: list[DeclaredFunction | DeclaredAggregate] = []
    errors: list[str] = []
    for file in _files(paths, errors):
        try:
            declared += _in_file(file)
        except ConfigError as wrong:
            errors.append(str(wrong))
    if with_packages:
        for entry in sorted(entry_points(group=GROUP), key=lambda one: one.name):
            try:
                declared += _in_package(entry)
            except ConfigError as wrong:
                errors.append(str(wrong))
    functions, conflicts = merged([one.declaration() for one in declared])
    return Loaded(functions, (*errors, *conflicts))


def _files(paths: Sequence[str], errors: list[str]) -> Iterable[Path]:
    for path in dict.fromkeys(paths):
        given = Path(path)
        if given.is_dir():
            yield from (one for one in sorted(given.glob("*.py")) if not one.name.startswith(("_", ".")))
        elif given.is_file():
            yield given
        else:
            errors.append(f"{path}: there is no such file or folder with SQL functions. Correct the path")


def _in_file(file: Path) -> list[DeclaredFunction | DeclaredAggregate]:
    name = str(file.resolve())
    try:
        text = file.read_text()
        return declared_in(module_of(module_name(name, text), name, text))
    except SyntaxError as failure:
        raise ConfigError(f"{name}, line {failure.lineno}: {failure.msg}. Correct the file") from failure
    except ConfigError:
        raise
    except (Exception, SystemExit) as failure:
        lines = [one.lineno for one in traceback.extract_tb(failure.__traceback__) if one.filename == name]
        where = f"{name}, line {lines[-1]}" if lines else name
        raise ConfigError(f"{where}: {type(failure).__name__}: {failure}. Correct the file") from failure


def _in_package(entry: EntryPoint) -> list[DeclaredFunction | DeclaredAggregate]:
    try:
        module = module_of(entry.module, "", None)
    except (Exception, SystemExit) as failure:
        raise ConfigError(
            f"the package {entry.dist.name if entry.dist else entry.name} offers SQL functions in {entry.module}, "
            f"which cannot be imported: {type(failure).__name__}: {failure}. Install it again or remove it"
        ) from failure
    found = declared_in(module)
    if not found:
        raise ConfigError(
            f"{entry.module} is offered as SQL functions and declares none: use @udf, @udaf or @udtf"
        )
    return found
