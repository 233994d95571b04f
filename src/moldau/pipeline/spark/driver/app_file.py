"""Loads applications from the user's files: a module with a builder, or with a function `build()` that returns one.

A worker of Connect writes files too: their `build()` returns the plan of a connector.

Each file of a process becomes a module of its own. The modules it imports from its folder are shared by all, as in any
Python program: so two folders may not both have a module of the same name.
"""

import ast
import importlib.util
import sys
import traceback
import zlib
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Final

from moldau.core.errors import ConfigError
from moldau.pipeline.connect.runtime.plan import ConnectorPlan
from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.streams.builder import StreamsBuilder

MODULE: Final = "moldau_application"


class NoApplication(ConfigError):
    """The file defines no application. In a folder it is taken for a module that others import."""


def load_application(path: str, *, by_value: bool = True) -> Topology:
    """Raises ConfigError when the file defines no application. An exception of the file itself passes through."""
    found = _load(path, by_value=by_value)
    if isinstance(found, ConnectorPlan):
        raise ConfigError(f"{path} defines the connector {found.name}, which has no topology")
    return found


def _load(path: str, *, by_value: bool) -> Topology | ConnectorPlan:
    file = Path(path)
    if not file.is_file():
        raise ConfigError(f"there is no file {path}")
    # The application may import modules of its folder, here and in the workers. They get the file itself by value.
    make_importable(file.resolve().parent)
    _require_own_neighbours(file)
    name = f"{MODULE}_{zlib.crc32(str(file.resolve()).encode()):08x}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    if by_value:
        from pyspark.cloudpickle import register_pickle_by_value

        register_pickle_by_value(module)  # type: ignore[no-untyped-call]
    return _topology_in(module, path)


def load_for_host(path: str) -> Topology | ConnectorPlan:
    """An application or a connector. An exception of the file becomes a ConfigError that names the line."""
    try:
        return _load(path, by_value=True)
    except ConfigError:
        raise
    except SyntaxError as failure:
        raise ConfigError(
            f"{failure.filename or path}, line {failure.lineno}: {failure.msg}. Correct the file"
        ) from failure
    except (Exception, SystemExit) as failure:
        lines = [
            frame.lineno for frame in traceback.extract_tb(failure.__traceback__) if frame.filename == path
        ]
        where = f"{path}, line {lines[-1]}" if lines else path
        raise ConfigError(f"{where}: {type(failure).__name__}: {failure}. Correct the file") from failure


def application_files(paths: Iterable[str]) -> list[tuple[str, bool]]:
    """The files to load, each with whether the file itself was named, not only its folder."""
    found: dict[str, bool] = {}
    for path in paths:
        if Path(path).is_dir():
            for file in sorted(Path(path).glob("*.py")):
                if not file.name.startswith(("_", ".")):
                    found.setdefault(str(file), False)
        else:
            found[path] = True
    return list(found.items())


def make_importable(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def _require_own_neighbours(file: Path) -> None:
    """Raises ConfigError when the file would import another folder's module instead of its own."""
    folder = file.resolve().parent
    for name in sorted(_imported(file)):
        if not (folder / f"{name}.py").is_file() and not (folder / name / "__init__.py").is_file():
            continue
        loaded = getattr(sys.modules.get(name), "__file__", None)
        if loaded is not None and not Path(loaded).resolve().is_relative_to(folder):
            raise ConfigError(
                f"{file} imports {name} from its folder, but this process has a module {name} from {loaded} already: "
                "give one of them another name, or run the applications in two processes"
            )


def _imported(file: Path) -> set[str]:
    """The top-level names that the file imports. A syntax error is reported when the file is loaded."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):
        return set()
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


def _topology_in(module: ModuleType, path: str) -> Topology | ConnectorPlan:
    make = getattr(module, "build", None)
    if callable(make):
        made = make()
        return made if isinstance(made, ConnectorPlan) else _built(made, f"what build() of {path} returns")
    if hasattr(module, "builder"):
        return _built(module.builder, f"the builder of {path}")
    found = [value for value in vars(module).values() if isinstance(value, StreamsBuilder | Topology)]
    if len(found) == 1:
        return _built(found[0], path)
    kind = ConfigError if found else NoApplication
    raise kind(
        f"{path} defines {'no' if not found else 'more than one'} application: "
        "name its StreamsBuilder `builder`, or write a function `build()` that returns it"
    )


def _built(value: object, what: str) -> Topology:
    topology = value.build() if isinstance(value, StreamsBuilder) else value
    if not isinstance(topology, Topology):
        raise ConfigError(f"{what} is a {type(value).__name__}, neither a StreamsBuilder nor a Topology")
    return topology
