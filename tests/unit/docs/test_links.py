"""Every link and every path in the documents leads to something that is there."""

import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest

from documents import ROOT, Page, pages
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.pipeline.connect.plugins import ENTRY_POINT_GROUP
from moldau.security.sasl import own_checks

PAGES = pages()
PACKAGE = ROOT / "src" / "moldau"
ROOTS = ("bench", "docs", "examples", "src", "tests", "tools")
SUFFIXES = ("py", "md", "c", "java", "js", "svg", "toml", "service", "yaml", "yml")
PATH = re.compile(r"[\w.-]+(/[\w.-]+)*/?")
MODULE = re.compile(r"moldau(\.\w+)+")
OF_DEVELOPERS = re.compile(r"DESIGN|COMPAT|CONTRIBUTING|FORMAT|/design/")
"""Pages in which a bare `name.py` is a file of ours. In the guides it is the reader's."""

NAMES_OF_OURS = {ENTRY_POINT_GROUP, own_checks.GROUP, *BrokerSettings.KEYS}
"""Entry point groups and settings, which are no modules though they look like some."""
OF_PROGRAMS = {"bench/out/"}
"""What a program of ours writes, and git ignores."""


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_resolve(page: Page) -> None:
    assert [link for link in page.links() if not _resolves(page, link)] == []


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_paths_exist(page: Page) -> None:
    assert [span for span in page.code_spans() if not _names_something(page, span)] == []


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_modules_exist(page: Page) -> None:
    named = {span for span in page.code_spans() if MODULE.fullmatch(span)} - NAMES_OF_OURS
    assert sorted(name for name in named if not _is_importable(name)) == []


def test_the_checks_see_the_documents() -> None:
    assert len(PAGES) >= 15
    assert sum(len(page.links()) for page in PAGES) >= 25


def _resolves(page: Page, link: str) -> bool:
    if re.match(r"[a-z]+:", link):
        return True
    path, _, anchor = unquote(link).partition("#")
    target = (page.path.parent / path).resolve() if path else page.path
    if not target.exists():
        return False
    return not anchor or (target.suffix == ".md" and anchor in Page(target).anchors())


def _names_something(page: Page, span: str) -> bool:
    if not PATH.fullmatch(span) or span in OF_PROGRAMS:
        return True
    has_suffix = span.rpartition(".")[2] in SUFFIXES
    if "/" not in span:
        if not has_suffix or not OF_DEVELOPERS.search(str(page)):
            return True
        return span in _file_names()
    if not has_suffix and span.split("/")[0] not in (*ROOTS, *_packages()):
        return True
    bases = (
        ROOT,
        PACKAGE,
        PACKAGE.parent,
        page.path.parent,
        *PACKAGE.iterdir(),
        PACKAGE / "pipeline" / "spark",
        PACKAGE / "pipeline" / "connect",
        PACKAGE / "pipeline" / "connect" / "server",
    )
    return any((base / span).exists() for base in bases)


@cache
def _file_names() -> frozenset[str]:
    at_the_root = {path.name for path in ROOT.glob("*.*")}
    return frozenset(at_the_root.union(path.name for root in ROOTS for path in (ROOT / root).rglob("*.*")))


@cache
def _packages() -> tuple[str, ...]:
    return tuple(path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__")


def _is_importable(dotted: str) -> bool:
    """Without importing anything: the longest part that is a module, and a name that its text has."""
    parts = dotted.split(".")
    for end in range(len(parts), 0, -1):
        module = (ROOT / "src").joinpath(*parts[:end])
        file = module / "__init__.py" if module.is_dir() else module.with_suffix(".py")
        if file.exists():
            return _has_names(file, parts[end:])
    return False


def _has_names(file: Path, names: list[str]) -> bool:
    text = file.read_text(encoding="utf-8")
    return all(re.search(rf"\b{name}\b", text) for name in names)
