"""Files, folders and packages with functions of the user."""

import sys
from pathlib import Path

import pytest
from user_files import evaluated, written

from moldau.core.errors import ConfigError
from moldau.pipeline.sql.functions.user.loading import GROUP, library_of, load

ONE = """
    @udf
    def one() -> int:
        return 1
    """


def test_a_folder_with_a_broken_file(tmp_path: Path) -> None:
    written(tmp_path, ONE)
    written(tmp_path, "raise OSError('no disk')", "raises.py")
    (tmp_path / "syntax.py").write_text("def\n")
    (tmp_path / "_private.py").write_text("def\n")
    (tmp_path / "notes.txt").write_text("def\n")
    loaded = load([str(tmp_path)], with_packages=False)
    assert [one.name for one in loaded.functions] == ["ONE"]
    assert len(loaded.errors) == 2
    assert f"{tmp_path / 'raises.py'}, line 2: OSError: no disk" in loaded.errors[0]
    assert f"{tmp_path / 'syntax.py'}, line 1" in loaded.errors[1]
    with pytest.raises(ConfigError, match="no disk"):
        library_of([str(tmp_path)], with_packages=False)


def test_a_path_that_does_not_exist(tmp_path: Path) -> None:
    [error] = load([str(tmp_path / "nothing")], with_packages=False).errors
    assert "no such file or folder" in error


def test_a_file_may_import_its_neighbours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "constants_of_one.py").write_text("VALUE = 5\n")
    written(
        tmp_path,
        """
        from constants_of_one import VALUE

        @udf
        def value() -> int:
            return VALUE
        """,
    )
    library = library_of([str(tmp_path)], with_packages=False)
    assert evaluated("VALUE()", library)[1] == 5


def test_a_changed_file_changes_what_comes_and_not_what_runs(tmp_path: Path) -> None:
    file = written(tmp_path, ONE)
    before = library_of([str(tmp_path)], with_packages=False)
    file.write_text(file.read_text().replace("return 1", "return 1000"))
    written(tmp_path, ONE.replace("one", "another"), "more.py")
    after = library_of([str(tmp_path)], with_packages=False)
    assert evaluated("ONE()", before)[1] == 1
    assert evaluated("ONE()", after)[1] == 1000
    assert after.is_user("ANOTHER")
    file.unlink()
    assert library_of([str(tmp_path)], with_packages=False).find("ONE") is None


def installed(folder: Path, text: str, module: str) -> None:
    """A distribution with an entry point, as pip leaves it."""
    written(folder, text, f"{module}.py")
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\nmine = {module}\n")


def test_packages_offer_functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, ONE, "package_with_one")
    monkeypatch.syspath_prepend(tmp_path)
    loaded = load([])
    assert [one.name for one in loaded.functions] == ["ONE"]
    assert evaluated("ONE()", library_of([]))[1] == 1


def test_a_package_that_cannot_be_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, "import nothing_of_this_name", "broken_package_of_functions")
    monkeypatch.syspath_prepend(tmp_path)
    [error] = load([]).errors
    assert "the package broken_package_of_functions offers SQL functions" in error
    assert "nothing_of_this_name" in error
