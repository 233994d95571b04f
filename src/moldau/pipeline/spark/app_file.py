"""Loads an application from the user's file: a module with a builder, or with a function `build()` that gives one."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Final

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.streams.builder import StreamsBuilder

MODULE: Final = "moldau_application"


def load_application(path: str, *, by_value: bool = True) -> Topology:
    """Raises ConfigError when the file holds no application; what the file itself raises is the user's."""
    file = Path(path)
    if not file.is_file():
        raise ConfigError(f"there is no file {path}")
    # The application may import its neighbours, here and in the workers, which get the module itself by value.
    sys.path.insert(0, str(file.resolve().parent))
    spec = importlib.util.spec_from_file_location(MODULE, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[MODULE] = module
    spec.loader.exec_module(module)
    if by_value:
        from pyspark.cloudpickle import register_pickle_by_value

        register_pickle_by_value(module)  # type: ignore[no-untyped-call]
    return _topology_in(module, path)


def _topology_in(module: ModuleType, path: str) -> Topology:
    make = getattr(module, "build", None)
    if callable(make):
        return _built(make(), f"what build() of {path} returns")
    if hasattr(module, "builder"):
        return _built(module.builder, f"the builder of {path}")
    found = [value for value in vars(module).values() if isinstance(value, StreamsBuilder | Topology)]
    if len(found) == 1:
        return _built(found[0], path)
    raise ConfigError(
        f"{path} defines {'no' if not found else 'more than one'} application: "
        "name its StreamsBuilder `builder`, or write a function `build()` that returns it"
    )


def _built(value: object, what: str) -> Topology:
    topology = value.build() if isinstance(value, StreamsBuilder) else value
    if not isinstance(topology, Topology):
        raise ConfigError(f"{what} is a {type(value).__name__}, neither a StreamsBuilder nor a Topology")
    return topology
