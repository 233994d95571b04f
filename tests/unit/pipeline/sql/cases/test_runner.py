"""Files of cases: directives, what passes, and what a failure says."""

import pytest

from moldau.core.errors import ConfigError
from moldau.pipeline.sql.cases import run_text

DEFINED = "CREATE STREAM s (id INT KEY, v INT) WITH (kafka_topic='s', value_format='JSON');\n"


def problem(text: str) -> str | None:
    (result,) = run_text(text, "file.sql")
    return result.problem


def test_statements_before_the_first_case_belong_to_all() -> None:
    case = "--@test: {}\nINSERT INTO s (id, v) VALUES (1, {});\nASSERT VALUES s (id, v) VALUES (1, {});\n"
    results = run_text(DEFINED + case.format("one", 5, 5) + case.format("two", 6, 6))
    assert [(one.name, one.line, one.passed) for one in results] == [("one", 2, True), ("two", 5, True)]


def test_a_failure_shows_both_records_and_the_line() -> None:
    found = problem(
        DEFINED + "--@test: x\nINSERT INTO s (id, v) VALUES (1, 2);\nASSERT VALUES s (id, v) VALUES (1, 3);"
    )
    assert found is not None
    assert found.startswith("file.sql:4: x: line 4:1: record 1 of S does not match")
    assert "expected:\n  ID | V\n  1  | 3\nactual:\n  ID | V\n  1  | 2" in found


def test_failed_expressions_are_told() -> None:
    found = problem(
        f"{DEFINED}--@test: x\nCREATE STREAM r AS SELECT id, 1 / v AS q FROM s;\n"
        "INSERT INTO s (id, v) VALUES (1, 0);\nASSERT VALUES r (id, q) VALUES (1, 1);"
    )
    assert found is not None
    assert "failed expressions: Q: " in found


def test_an_expected_error_must_come_and_say_what_is_expected() -> None:
    assert problem("--@test: x\n--@expected.message: NOTHING does not exist\nDROP STREAM nothing;") is None
    missing = problem("--@test: x\n--@expected.error: SqlError\nDROP STREAM IF EXISTS nothing;")
    assert missing == "file.sql:1: x: an error is expected, and there is none"
    other = problem("--@test: x\n--@expected.message: another text\nDROP STREAM nothing;")
    assert other is not None
    assert "the error should say 'another text'" in other


def test_an_error_of_java_stands_for_any_error_but_not_for_a_failed_assertion() -> None:
    java = "--@test: x\n--@expected.error: io.confluent.ksql.util.KsqlException\nDROP STREAM nothing;"
    assert problem(java) is None
    found = problem("--@test: x\n--@expected.error: java.lang.AssertionError\nDROP STREAM nothing;")
    assert found is not None
    assert "a failed assertion is expected" in found


def test_an_expected_warning_must_come() -> None:
    old = "CREATE TABLE t (id INT, v INT) WITH (kafka_topic='t', value_format='JSON', key='id');"
    assert problem(f"--@test: x\n--@expected.warning: KSQL 5\n{old}") is None
    found = problem(f"--@test: x\n--@expected.warning: KSQL 5\n{DEFINED}")
    assert found == "file.sql:1: x: a warning should say 'KSQL 5': there is none"


def test_definitions_are_compared() -> None:
    asserted = "ASSERT STREAM s (id INT KEY, v {}) WITH (kafka_topic='{}');"
    assert problem(DEFINED + "--@test: x\n" + asserted.format("INT", "s")) is None
    found = problem(DEFINED + "--@test: x\n" + asserted.format("BIGINT", "s"))
    assert found is not None
    assert "Expected schema does not match actual for source S" in found
    assert "kafka topic" in str(problem(DEFINED + "--@test: x\n" + asserted.format("INT", "other")))


@pytest.mark.parametrize(
    ("text", "message"),
    [("SELECT 1;", "no case in the file"), ("--@test: x\n--@expected: y\n", "unknown directive --@expected")],
)
def test_a_file_that_is_no_file_of_cases(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        run_text(text)
