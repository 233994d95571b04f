"""Every case of every file in `cases/` is a test."""

from pathlib import Path

import pytest

from moldau.pipeline.sql.cases.case_file import Case, read_cases
from moldau.pipeline.sql.cases.runner import run_case
from moldau.pipeline.sql.functions.library import builtin

FOLDER = Path(__file__).parent / "cases"
FILES = sorted(FOLDER.rglob("*.sql"))
CASES = [(file, case) for file in FILES for case in read_cases(file.read_text(), str(file))]


@pytest.mark.parametrize(
    ("file", "case"),
    CASES,
    ids=[f"{file.relative_to(FOLDER).with_suffix('')}:{case.line} {case.name}" for file, case in CASES],
)
def test_case(file: Path, case: Case) -> None:
    def read_script(name: str) -> str:
        return (file.parent / name.lstrip("/")).read_text()

    result = run_case(case, str(file), builtin(), read_script)
    assert result.passed, result.problem
