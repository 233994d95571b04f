"""What `pip install` brings: the package, its types and the pages beside the code, and nothing else."""

import subprocess
import sys
import tomllib
import zipfile
from importlib import import_module
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).parents[2]
PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input")
PATIENCE_S = 600
OTHER_FILES = {
    "moldau/cli/local/demo/statements.sql",
    "moldau/py.typed",
    "moldau/pipeline/spark/log4j2.properties",
    "moldau/protocol/stored/FORMAT.md",
    "moldau/storage/FORMAT.md",
}


def test_the_wheel_has_the_package_and_nothing_else(tmp_path: Path) -> None:
    reached = subprocess.run(
        [*PIP, "download", "--no-deps", "--dest", tmp_path, "hatchling"],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    if reached.returncode:
        pytest.skip(f"pip cannot download: {reached.stderr.strip()[-200:]}")
    subprocess.run(
        [*PIP, "wheel", "--no-deps", "--wheel-dir", tmp_path, REPOSITORY], timeout=PATIENCE_S, check=True
    )
    (wheel,) = tmp_path.glob("moldau-*.whl")
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    in_tree = (REPOSITORY / "src").rglob("*.py")
    modules = {path.relative_to(REPOSITORY / "src").as_posix() for path in in_tree}
    assert names == modules | OTHER_FILES


def test_what_the_metadata_says() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    assert project["version"] == import_module("moldau").__version__
    assert (REPOSITORY / project["readme"]).is_file()
    for scripts in (project["scripts"], project["entry-points"]["pytest11"]):
        for target in scripts.values():
            module, _, name = target.partition(":")
            assert not name or callable(getattr(import_module(module), name))
