"""How large folders and classes may grow. A folder past the limit asks for folders of its own."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import moldau

ROOT = Path(moldau.__file__).parent
TESTS = Path(__file__).parents[1]
MODULES_MAX = 25
PUBLIC_METHODS_MAX = 20
FUNCTION_LINES_MAX = 60
MIRRORS_OF_KNOWN_INTERFACES = {"KStream", "FakeConsumer"}
"""Kafka Streams' KStream and confluent_kafka's Consumer have as many methods, which users expect to find."""
LONG_FOR_A_REASON = {"_read_partitions"}
"""One loop over the partitions of a fetch, on the hot path: a call for each of its steps would cost more."""


def modules() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(ROOT.rglob("*.py")):
        yield path, ast.parse(path.read_text())


def test_no_folder_has_too_many_modules() -> None:
    folders: dict[Path, int] = {}
    for path, _ in modules():
        folders[path.parent] = folders.get(path.parent, 0) + (path.name != "__init__.py")
    assert {str(folder): count for folder, count in folders.items() if count > MODULES_MAX} == {}


def test_every_package_says_what_lives_there() -> None:
    packages = [
        path for path, tree in modules() if path.name == "__init__.py" and not ast.get_docstring(tree)
    ]
    assert packages == []


@pytest.mark.parametrize(
    ("kind", "limit", "exempt"),
    [
        (ast.ClassDef, PUBLIC_METHODS_MAX, MIRRORS_OF_KNOWN_INTERFACES),
        (ast.FunctionDef | ast.AsyncFunctionDef, FUNCTION_LINES_MAX, LONG_FOR_A_REASON),
    ],
)
def test_nothing_grows_too_large(kind: type[ast.AST], limit: int, exempt: set[str]) -> None:
    found = {
        f"{path.relative_to(ROOT)}: {node.name}": size
        for path, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, kind)
        and isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and (size := size_of(node)) > limit
        and node.name not in exempt
    }
    assert found == {}


def size_of(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The public methods of a class, the lines of a function."""
    if not isinstance(node, ast.ClassDef):
        return (node.end_lineno or 0) - node.lineno + 1
    methods = [one for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
    return len({one.name for one in methods if not one.name.startswith("_")})


def test_tests_outside_of_packages_have_names_of_their_own() -> None:
    """Pytest imports them by their bare names."""
    paths = [path for path in TESTS.rglob("test_*.py") if not (path.parent / "__init__.py").exists()]
    names = [path.stem for path in paths]
    assert sorted({name for name in names if names.count(name) > 1}) == []
