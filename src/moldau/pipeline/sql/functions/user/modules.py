"""The modules that functions of the user are in, by the text of their files: in this process and in workers alike."""

import importlib
import sys
import zlib
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from moldau.pipeline.sql.types import SqlType

DECLARED: Final = "__moldau_sql_functions__"
"""The name in a module under which decorators list what they have declared."""
SOURCE: Final = "__moldau_sql_source__"
PREFIX: Final = "moldau_sql_functions"

Place = tuple[str, str, str | None, int]
"""The module, its file, its text, and the place among what it declares. No text: it is imported by its name."""


def module_name(file: str, text: str) -> str:
    """Another text is another module: queries that run keep theirs."""
    return f"{PREFIX}_{zlib.crc32(file.encode()):08x}_{zlib.crc32(text.encode()):08x}"


def module_of(name: str, file: str, text: str | None) -> ModuleType:
    """The module, executed if it is not there yet. What the text raises passes through."""
    found = sys.modules.get(name)
    if found is not None:
        return found
    if text is None:
        return importlib.import_module(name)
    module = ModuleType(name)
    module.__file__ = file
    setattr(module, SOURCE, text)
    _make_importable(Path(file).parent)
    sys.modules[name] = module
    try:
        exec(compile(text, file, "exec"), module.__dict__)  # noqa: S102 The user's own file.
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _make_importable(folder: Path) -> None:
    """A file may import its neighbours, where they are."""
    if folder.is_dir() and str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def declared_in(module: ModuleType) -> list[Any]:
    found: list[Any] = vars(module).get(DECLARED, [])
    return found


def declare(module: str, declared: Any) -> Place:
    """Adds what a decorator has declared to its module, and says where it is."""
    space = vars(sys.modules[module])
    known: list[Any] = space.setdefault(DECLARED, [])
    known.append(declared)
    return module, str(space.get("__file__", "")), space.get(SOURCE), len(known) - 1


def found_again(name: str, file: str, text: str | None, index: int) -> Any:
    return declared_in(module_of(name, file, text))[index]


def call_again(
    name: str, file: str, text: str | None, index: int, form: int, types: tuple[SqlType | None, ...]
) -> Any:
    return found_again(name, file, text, index).call(form, types)


def step_again(
    name: str, file: str, text: str | None, index: int, method: str, constants: tuple[Any, ...]
) -> Any:
    return found_again(name, file, text, index).step(method, constants)
