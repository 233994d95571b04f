"""Loads an application from the user's file: a module with a builder, or with a function `build()` that gives one."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Final, Protocol

from pyspark.cloudpickle import register_pickle_by_value

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.topology import Topology

MODULE: Final = "moldau_application"


class Builder(Protocol):
    @property
    def application_id(self) -> str: ...

    def build(self) -> Topology: ...


def load_application(path: str) -> Builder:
    """Raises ConfigError when the file holds no application; what the file itself raises is the user's."""
    file = Path(path)
    if not file.is_file():
        raise ConfigError(f"there is no file {path}")
    # The application may import its neighbours, here and in the workers, which get the module by value.
    sys.path.insert(0, str(file.resolve().parent))
    spec = importlib.util.spec_from_file_location(MODULE, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[MODULE] = module
    spec.loader.exec_module(module)
    register_pickle_by_value(module)  # type: ignore[no-untyped-call]
    return _builder_in(module, path)


def _builder_in(module: ModuleType, path: str) -> Builder:
    make = getattr(module, "build", None)
    if callable(make):
        return _checked(make(), f"build() of {path}")
    if hasattr(module, "builder"):
        return _checked(module.builder, f"builder of {path}")
    found = [value for value in vars(module).values() if _is_builder(value)]
    if len(found) == 1:
        return _checked(found[0], path)
    raise ConfigError(
        f"{path} defines {'no' if not found else 'more than one'} application: "
        "name the StreamsBuilder `builder`, or write a function `build()` that returns it"
    )


def _is_builder(value: object) -> bool:
    return not isinstance(value, type) and hasattr(value, "build") and hasattr(value, "application_id")


def _checked(value: object, what: str) -> Builder:
    if not _is_builder(value):
        raise ConfigError(f"the {what} is a {type(value).__name__}, not a StreamsBuilder")
    return value  # type: ignore[return-value]
