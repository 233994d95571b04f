"""What is suggested at the cursor, marked | in these texts."""

import pytest

from moldau.cli.sql_shell.server_names import ServerNames, names_in
from moldau.cli.sql_shell.suggestions import suggest

NAMES = ServerNames(
    sources={"VISITS": ("PAGE", "USER_ID", "order id"), "USERS": ("NAME", "USER_ID")},
    functions=("UCASE", "UNIX_DATE"),
    topics=("visits",),
    queries=("CSAS_BIG_3",),
    types=("ADDRESS",),
    properties=("auto.offset.reset",),
)


def suggested(text: str) -> list[str]:
    before, _, after = text.partition("|")
    return [each.text for each in suggest(before, after, NAMES).found]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("SELECT * FROM |", "USERS"),
        ("SELECT * FROM v|", "visits"),
        ("SELECT * FROM V|", "VISITS"),
        ("SELECT p| FROM visits", "page"),
        ("SELECT v.u| FROM visits v", "user_id"),
        ("SELECT USERS.| FROM VISITS JOIN USERS", "NAME"),
        ("SELECT x FROM visits JOIN users ON users.n|", "name"),
        ("SELECT u| FROM t", "ucase"),
        ("SELECT n|", "name"),
        ("SELECT o| FROM visits", "`order id`"),
        ("SELECT * FROM visits emi|", "emit"),
        ("SHOW STREAMS; sel|", "select"),
        ("PRINT |", "visits"),
        ("TERMINATE |", "CSAS_BIG_3"),
        ("DESCRIBE FUNCTION |", "UCASE"),
        ("DROP TABLE u|", "users"),
        ("SET 'auto|", "auto.offset.reset"),
        ("CREATE STREAM s (a INT) WITH (KAFKA_T|", "KAFKA_TOPIC"),
        ("CREATE STREAM s (a BIG|", "BIGINT"),
        ("CREATE STREAM s (a ADD|", "ADDRESS"),
        ("CREATE STREAM s AS SELECT PA| FROM visits;", "PAGE"),
    ],
)
def test_the_first_suggestion(text: str, first: str) -> None:
    assert suggested(text)[0] == first


def test_columns_come_before_functions_and_keywords() -> None:
    assert suggested("SELECT U| FROM visits")[:3] == ["USER_ID", "UCASE", "UNIX_DATE"]


@pytest.mark.parametrize("text", ["SELECT 'us|", "SELECT unknown.|", "INSERT INTO visits VALUES ('|"])
def test_nothing_is_suggested(text: str) -> None:
    assert suggested(text) == []


def test_names_are_read_from_answers() -> None:
    found = names_in(
        [
            {
                "@type": "source_descriptions",
                "sourceDescriptions": [{"name": "S", "fields": [{"name": "B"}, {"name": "A"}]}],
            },
            {"@type": "function_names", "functions": [{"name": "ABS"}]},
            {"@type": "queries", "queries": [{"id": "CSAS_S_1"}]},
            {"@type": "type_list", "types": {"ADDRESS": {}}},
        ]
    )
    assert found.sources == {"S": ("A", "B")}
    assert (found.functions, found.queries, found.types) == (("ABS",), ("CSAS_S_1",), ("ADDRESS",))
