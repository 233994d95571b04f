from pathlib import Path

from moldau.pipeline.sql.engine import Catalog, Command
from moldau.pipeline.sql.engine.answers import QueriesList
from moldau.pipeline.sql.functions.library import builtin
from moldau.pipeline.sql.functions.user.loading import library_of
from sql_kit import StatementDesk

VIEWS = (
    "CREATE STREAM views (k INT KEY, v STRING) WITH (KAFKA_TOPIC='views', VALUE_FORMAT='JSON', PARTITIONS=1);"
)


def test_a_command_is_applied_once() -> None:
    desk = StatementDesk()
    desk.run(VIEWS + "CREATE STREAM a AS SELECT * FROM views; TERMINATE CSAS_A_1;")
    before, version = desk.catalog.definitions, desk.catalog.version
    for offset, record in enumerate(desk.log):
        desk.catalog.replay(Command.from_bytes(*record), offset)
    assert desk.catalog.definitions == before
    assert desk.catalog.version == version
    assert desk.catalog.next_offset == 3


def test_of_two_conflicting_commands_the_second_fails_the_same_everywhere() -> None:
    desk, other = StatementDesk(), StatementDesk()
    desk.run(VIEWS)
    other.log, other.topics = list(desk.log), dict(desk.topics)
    other.catalog = desk.replayed()
    mine = desk.decide("CREATE STREAM s AS SELECT k, v FROM views;")
    theirs = other.decide("CREATE STREAM s AS SELECT k, LEN(v) AS n FROM views;")
    assert mine.command is not None and theirs.command is not None
    first, second = desk.append(mine.command), desk.append(theirs.command)
    assert first.is_done and first.query_id == "CSAS_S_1"
    assert not second.is_done and second.query_id is None
    assert "S exists already" in second.message
    assert desk.catalog.failures == {2: second.message}
    again = desk.replayed()
    assert again == desk.catalog
    assert again.failures == desk.catalog.failures
    assert [column.name for column in again.sources["S"].schema] == ["K", "V"]


def test_a_drop_that_comes_too_late() -> None:
    desk = StatementDesk()
    desk.run(VIEWS)
    drop = desk.decide("DROP STREAM views DELETE TOPIC;")
    desk.run("CREATE STREAM a AS SELECT * FROM views;")
    assert drop.command is not None
    applied = desk.append(drop.command)
    assert not applied.is_done
    assert "is read by CSAS_A_1" in applied.message
    assert "VIEWS" in desk.catalog.sources


def test_commands_with_if_not_exists_are_done_without_a_change() -> None:
    desk = StatementDesk()
    create = desk.decide(VIEWS.replace("STREAM", "STREAM IF NOT EXISTS", 1))
    desk.run(VIEWS)
    assert create.command is not None
    version = desk.catalog.version
    applied = desk.append(create.command)
    assert applied.is_done and applied.change is not None and applied.change.is_nothing
    assert desk.catalog.version == version


def test_a_text_that_is_no_definition_does_not_harm() -> None:
    desk = StatementDesk()
    for text in ("SELECT * FROM views;", "CREATE STREAM", "DROP STREAM a; DROP STREAM b;", "SHOW STREAMS;"):
        assert not desk.append(Command("stream", "A", "create", text)).is_done
    assert desk.catalog == Catalog(builtin())
    assert len(desk.catalog.failures) == 4


def test_the_version_is_another_after_every_change() -> None:
    desk = StatementDesk()
    versions = [desk.catalog.version]
    desk.run(VIEWS)
    versions.append(desk.catalog.version)
    desk.catalog.library = builtin()
    versions.append(desk.catalog.version)
    assert len(set(versions)) == 3
    assert desk.catalog.functions is desk.catalog.library


def test_definitions_outlive_the_functions_of_the_user(tmp_path: Path) -> None:
    file = tmp_path / "scores.py"
    file.write_text(
        "from moldau.pipeline.sql.functions.user import udf\n\n"
        "@udf\ndef score(text: str) -> int:\n    return len(text)\n"
    )
    desk = StatementDesk(catalog=Catalog(library_of([str(file)], with_packages=False)))
    desk.run(
        VIEWS + "CREATE STREAM scored AS SELECT k, SCORE(v) AS points FROM views;"
        "CREATE TABLE totals AS SELECT k, SUM(points) AS total FROM scored GROUP BY k;"
        "CREATE STREAM best (k INT KEY, points BIGINT) WITH (VALUE_FORMAT='JSON', PARTITIONS=1);"
        "INSERT INTO best SELECT k, SCORE(v) AS points FROM views;"
        "CREATE OR REPLACE STREAM scored AS SELECT k, SCORE(v) AS points FROM views WHERE SCORE(v) > 3;"
    )
    desk.catalog.library = builtin()
    without = desk.replayed()
    assert without == desk.catalog
    assert without.failures == {}
    assert "unknown function SCORE" in desk.refused("CREATE STREAM more AS SELECT k, SCORE(v) FROM views;")
    [listed] = desk.run("SHOW QUERIES EXTENDED;")
    assert isinstance(listed.answer, QueriesList)
    plans = {one.query.id: one.plan for one in listed.answer.explanations if one.query is not None}
    assert "unknown function SCORE" in plans["CSAS_SCORED_1"]
    assert "unknown function" not in plans["CTAS_TOTALS_2"]
