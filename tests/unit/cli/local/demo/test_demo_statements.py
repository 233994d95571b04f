"""The statements of the demo join and count, and may be run again."""

from moldau.cli.local.demo.demo import PULL, PUSH, TABLE, statements
from moldau.pipeline.sql.cases import run_text
from sql_kit import StatementDesk

CASE = """--@test: page views are joined with their users and counted
RUN SCRIPT 'statements.sql';

INSERT INTO users (user_id, name, region, rowtime) VALUES ('ann', 'Ann', 'Bohemia', 0);
INSERT INTO users (user_id, name, region, rowtime) VALUES ('bob', 'Bob', 'Silesia', 0);
INSERT INTO pageviews (user_id, page, rowtime) VALUES ('ann', 'home', 1000);
INSERT INTO pageviews (user_id, page, rowtime) VALUES ('bob', 'cart', 2000);
INSERT INTO pageviews (user_id, page, rowtime) VALUES ('nobody', 'home', 2500);
INSERT INTO pageviews (user_id, page, rowtime) VALUES ('ann', 'home', 3000);
INSERT INTO pageviews (user_id, page, rowtime) VALUES ('ann', 'help', 61000);

ASSERT VALUES pageviews_enriched (user_id, page, name, region) VALUES ('ann', 'home', 'Ann', 'Bohemia');
ASSERT VALUES pageviews_enriched (user_id, page, name, region) VALUES ('bob', 'cart', 'Bob', 'Silesia');
ASSERT VALUES pageviews_enriched (user_id, page, name, region) VALUES ('ann', 'home', 'Ann', 'Bohemia');
ASSERT VALUES pageviews_enriched (user_id, page, name, region) VALUES ('ann', 'help', 'Ann', 'Bohemia');
ASSERT VALUES pageviews_per_region (region, views, pages, windowstart) VALUES ('Bohemia', 1, 1, 0);
ASSERT VALUES pageviews_per_region (region, views, pages, windowstart) VALUES ('Silesia', 1, 1, 0);
ASSERT VALUES pageviews_per_region (region, views, pages, windowstart) VALUES ('Bohemia', 2, 1, 0);
ASSERT VALUES pageviews_per_region (region, views, pages, windowstart) VALUES ('Bohemia', 1, 1, 60000);
"""


def test_page_views_are_joined_and_counted() -> None:
    [result] = run_text(CASE, read_script=lambda _: statements())
    assert result.passed, result.problem


def test_a_second_run_changes_nothing() -> None:
    desk = StatementDesk()
    desk.run(statements())
    queries, commands = set(desk.catalog.definitions.queries), len(desk.log)
    desk.run(statements())
    assert set(desk.catalog.definitions.queries) == queries
    assert len(desk.log) == commands


def test_what_is_printed_names_what_there_is() -> None:
    desk = StatementDesk()
    desk.run(statements())
    assert TABLE in desk.catalog.definitions.sources
    assert TABLE.lower() in PULL and "pageviews_enriched" in PUSH
