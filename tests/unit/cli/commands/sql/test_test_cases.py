"""`moldau sql test`."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from moldau.cli.main import main

PASSING = """\
--@test: a filter keeps what it should
CREATE STREAM s (id INT KEY, n INT) WITH (kafka_topic='s', value_format='JSON');
CREATE STREAM big AS SELECT * FROM s WHERE n > 1;
INSERT INTO s VALUES (1, 1);
INSERT INTO s VALUES (2, 2);
ASSERT VALUES big (id, n) VALUES (2, 2);
"""
FAILING = """\
--@test: a wrong number
CREATE STREAM s (id INT KEY, n INT) WITH (kafka_topic='s', value_format='JSON');
INSERT INTO s VALUES (1, 1);
ASSERT VALUES s (id, n) VALUES (1, 7);
"""
WITH_FUNCTION = """\
--@test: a function of our own
CREATE STREAM s (id INT KEY, n INT) WITH (kafka_topic='s', value_format='JSON');
CREATE STREAM d AS SELECT id, TWICE(n) AS n FROM s;
INSERT INTO s VALUES (1, 21);
ASSERT VALUES d (id, n) VALUES (1, 42);
"""
FUNCTION = """\
from moldau.pipeline.sql.functions.user import udf

@udf
def twice(number: int) -> int:
    return 2 * number
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "deeper").mkdir()
    (tmp_path / "good.sql").write_text(PASSING)
    (tmp_path / "deeper" / "bad.sql").write_text(FAILING)
    (tmp_path / "script.sql").write_text("SHOW STREAMS;\n")
    return tmp_path


def test_a_failed_case_is_told_with_its_place_and_the_difference(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sql", "test", str(folder)]) == 1
    told = capsys.readouterr().out
    assert f"FAILED  {folder / 'deeper' / 'bad.sql'}:4: a wrong number" in told
    assert "expected:" in told and "actual:" in told
    assert "2 cases in 2 files: 1 passed, 1 failed" in told


def test_passing_cases_take_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sql", "test", str(folder / "good.sql")]) == 0
    assert capsys.readouterr().out.startswith("1 case in 1 file: all passed (")


def test_results_as_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sql", "test", str(folder), "--output", "json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["passed"], told["failed"]) == (1, 1)
    assert {case["name"]: case["passed"] for case in told["cases"]} == {
        "a wrong number": False,
        "a filter keeps what it should": True,
    }


def test_results_as_junit(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = folder / "report.xml"
    assert main(["sql", "test", str(folder), "--junit", str(report)]) == 1
    root = ElementTree.parse(report).getroot()
    assert (root.get("tests"), root.get("failures")) == ("2", "1")
    (failure,) = root.iter("failure")
    assert "does not match" in (failure.text or "")


def test_functions_of_the_user(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases, functions = tmp_path / "cases.sql", tmp_path / "functions"
    cases.write_text(WITH_FUNCTION)
    functions.mkdir()
    (functions / "twice.py").write_text(FUNCTION)
    assert main(["sql", "test", str(cases)]) == 1
    assert main(["sql", "test", str(cases), "--functions", str(functions)]) == 0


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("SHOW STREAMS;\n", "no case in the file"),
        ("--@test: one\n--@tset: two\n", "unknown directive --@tset"),
    ],
)
def test_a_file_that_is_no_case_file(
    content: str, complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "cases.sql"
    file.write_text(content)
    assert main(["sql", "test", str(file)]) == 1
    assert complaint in capsys.readouterr().err


def test_a_folder_without_cases(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sql", "test", str(tmp_path)]) == 1
    assert "no case found" in capsys.readouterr().err
