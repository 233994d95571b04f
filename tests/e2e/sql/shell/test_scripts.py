"""`moldau sql` without a terminal: --execute, --file and standard input."""

import json
import subprocess
from pathlib import Path

import pytest

from e2e.sql.shell.conftest import Run

pytestmark = pytest.mark.slow


def rows(done: "subprocess.CompletedProcess[str]") -> list[dict[str, object]]:
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_execute_prints_one_answer(moldau_sql: Run, stream: str) -> None:
    done = moldau_sql("--execute", f"SELECT * FROM {stream};")
    assert done.returncode == 0
    assert done.stdout.splitlines()[:3] == ["ID | N", "---+--", "a  | 1"]


def test_rows_as_json(moldau_sql: Run, stream: str) -> None:
    done = moldau_sql("--output", "json", "--execute", f"SELECT ID, N FROM {stream}")
    assert rows(done) == [{"ID": "a", "N": 1}, {"ID": "b", "N": 2}]


def test_standard_input_is_a_script(moldau_sql: Run, stream: str) -> None:
    script = f"DEFINE least = '2';\nOUTPUT JSON;\nSELECT N FROM {stream}\n WHERE N >= ${{least}};"
    assert rows(moldau_sql(stdin=script)) == [{"N": 2}]


def test_a_file_runs_scripts(moldau_sql: Run, stream: str, tmp_path: Path) -> None:
    (tmp_path / "inner.sql").write_text("SELECT N FROM ${name} LIMIT 1;")
    (tmp_path / "outer.sql").write_text("RUN SCRIPT '${folder}inner.sql';")
    done = moldau_sql("-f", "outer.sql", "-d", f"name={stream}", "-d", "folder=./", "-o", "json")
    assert rows(done) == [{"N": 1}]


def test_a_script_that_runs_itself_ends(moldau_sql: Run, tmp_path: Path) -> None:
    (tmp_path / "again.sql").write_text("RUN SCRIPT 'again.sql';")
    done = moldau_sql("--file", "again.sql")
    assert done.returncode == 1
    assert "more than 20 deep" in done.stderr


def test_the_first_error_ends_a_script(moldau_sql: Run, stream: str) -> None:
    done = moldau_sql(stdin=f"SELECT NN FROM {stream};\nSHOW STREAMS;\n")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        "Error: line 1:8: unknown column NN",
        f"  SELECT NN FROM {stream};",
        "         ^",
        "Did you mean N?",
    ]


def test_an_error_in_a_file_says_where(moldau_sql: Run, stream: str, tmp_path: Path) -> None:
    (tmp_path / "inner.sql").write_text(
        "-- DROP STREAM nothing;\n\nCREATE STREAM none AS\n SELECT NN FROM ${name};"
    )
    (tmp_path / "outer.sql").write_text("RUN SCRIPT 'inner.sql';")
    done = moldau_sql("-f", "outer.sql", "-d", f"name={stream}")
    assert done.stderr.splitlines() == [
        "Error: in the statement at outer.sql, line 1:",
        "in the statement at inner.sql, line 3:",
        "line 2:9: unknown column NN",
        f"   SELECT NN FROM {stream};",
        "          ^",
        "Did you mean N?",
    ]


def test_functions_are_described_with_examples(moldau_sql: Run) -> None:
    assert "SUBSTRING('stream', 2, 3) => 'tre'" in moldau_sql("-e", "DESCRIBE FUNCTION SUBSTRING;").stdout


def test_a_query_ends_at_its_limits(moldau_sql: Run, stream: str, tmp_path: Path) -> None:
    (tmp_path / "session.properties").write_text("auto.offset.reset=earliest\n")
    push = f"SELECT N FROM {stream} EMIT CHANGES;"
    options = ("-o", "json", "--config-file", "session.properties", "-e", push)
    assert rows(moldau_sql("--query-row-limit", "1", *options)) == [{"N": 1}]
    assert rows(moldau_sql("--query-timeout", "3000", *options)) == [{"N": 1}, {"N": 2}]


def test_a_property_that_sessions_may_not_set(moldau_sql: Run) -> None:
    done = moldau_sql("-e", "SET 'ksql.service.id' = 'other_';")
    assert done.returncode == 1
    assert "ksql.service.id" in done.stderr


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("auto.offset.rest", "earliest", "Did you mean auto.offset.reset?"),
        ("auto.offset.reset", "erliest", "erliest"),
    ],
)
def test_a_wrong_property_is_refused_at_once(name: str, value: str, complaint: str, moldau_sql: Run) -> None:
    done = moldau_sql("-e", f"SET '{name}' = '{value}'; SHOW STREAMS;")
    assert done.returncode == 1
    assert complaint in done.stderr
    assert done.stdout == ""


def test_a_variable_within_another(moldau_sql: Run, stream: str) -> None:
    script = f"DEFINE a = '{stream}'; DEFINE b = '${{a}}'; SELECT N FROM ${{b}} LIMIT 1;"
    assert rows(moldau_sql("-o", "json", "-e", script)) == [{"N": 1}]


def test_print(moldau_sql: Run, stream: str) -> None:
    done = moldau_sql("-e", f"PRINT {stream} FROM BEGINNING LIMIT 2;")
    assert "key: a, value: {" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--execute", "SHOW STREAMS;", "--file", "x.sql"), "exclude each other"),
        (("--execute", "RUN SCRIPT 'none.sql';"), "cannot read the script none.sql"),
        (("--execute", "SET CLI WRAP MAYBE;"), "SET CLI WRAP ON|OFF;"),
        (("--execute", "UNDEFINE nothing;"), "is not defined"),
        (("ftp://localhost",), "is not the address of a SQL server"),
    ],
)
def test_misuse(arguments: tuple[str, ...], complaint: str, moldau_sql: Run, tmp_path: Path) -> None:
    (tmp_path / "x.sql").write_text("")
    done = moldau_sql(*arguments)
    assert done.returncode in (1, 2)
    assert complaint in done.stderr
