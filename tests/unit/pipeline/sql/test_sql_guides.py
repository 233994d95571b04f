"""The SQL of the guides: each page is run from its beginning to its end on one catalog, and its cases pass."""

import pytest

from documents import GUIDES, Page
from moldau.core.errors import ConfigError
from moldau.pipeline.sql.cases import run_text
from moldau.pipeline.sql.cases.runner import split
from moldau.pipeline.sql.queries.prepared import PullSettings
from moldau.pipeline.sql.queries.preparing import prepared
from moldau.pipeline.sql.server.settings import read_configuration
from moldau.pipeline.sql.syntax.parser import parse
from moldau.pipeline.sql.syntax.tree.statements import QueryControl, QueryStatement
from sql_kit import StatementDesk

PAGES = [Page(GUIDES / name) for name in ("sql.md", "from-ksqldb.md")]


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_the_statements_of_the_page_work(page: Page) -> None:
    desk = StatementDesk()
    for block in page.blocks("sql"):
        if "--@test" not in block.text:
            for _, text in split(block.text):
                execute(desk, desk.session.substituted(text))


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_the_cases_of_the_page_pass(page: Page) -> None:
    cases = [block.text for block in page.blocks("sql") if "--@test" in block.text]
    assert [result.problem for text in cases for result in run_text(text) if not result.passed] == []


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_the_settings_of_the_page_are_known(page: Page) -> None:
    for block in page.blocks("properties"):
        read_configuration(block.text)
    with pytest.raises(ConfigError):
        read_configuration("ksql.service.idd=shop_")


def test_there_are_examples() -> None:
    assert [len(page.blocks("sql")) >= least for page, least in zip(PAGES, (10, 2), strict=True)] == [
        True,
        True,
    ]


def execute(desk: StatementDesk, text: str) -> None:
    (one,) = parse(text)
    match one.statement:
        case QueryStatement(query=query):
            prepared(query, desk.catalog, PullSettings())
        case QueryControl():
            pass
        case _:
            desk.run(text)
