"""Every statement, decided: what to look up first, then what to do and what to answer.

SELECT without INTO, PRINT, RUN SCRIPT and the ASSERT statements of test files are not decided here: they have no effect
on what is defined.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from moldau.pipeline.sql.analysis.scope import FunctionLibrary
from moldau.pipeline.sql.engine.assertions import decide_assertion, needs_assertion
from moldau.pipeline.sql.engine.catalog import Catalog
from moldau.pipeline.sql.engine.changes import RULES as LOGGED
from moldau.pipeline.sql.engine.deciding import Asked, decide_logged, needs_logged
from moldau.pipeline.sql.engine.decision import Decision, Forward
from moldau.pipeline.sql.engine.facts import Facts, Needs
from moldau.pipeline.sql.engine.insert_values import decide_insert_values
from moldau.pipeline.sql.engine.session import Session
from moldau.pipeline.sql.engine.session_changes import decide_session
from moldau.pipeline.sql.engine.showing.describing import decide_describing, needs_describing
from moldau.pipeline.sql.engine.showing.explaining import decide_explaining
from moldau.pipeline.sql.engine.showing.listing import decide_listing, needs_listing
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.syntax.tree import statements as tree
from moldau.pipeline.sql.syntax.tree.statements import Statement

Decide = Callable[[Any, Catalog, Session, Facts, FunctionLibrary], Decision]
Need = Callable[[Any, Catalog], Needs]

NOT_LOGGED: Final[Mapping[type[Statement], Decide]] = {
    tree.Show: decide_listing,
    tree.Describe: decide_describing,
    tree.AssertTopic: decide_assertion,
    tree.AssertSchema: decide_assertion,
    tree.InsertValues: decide_insert_values,
    tree.SetProperty: decide_session,
    tree.UnsetProperty: decide_session,
    tree.Define: decide_session,
    tree.Undefine: decide_session,
}
NEEDS: Final[Mapping[type[Statement], Need]] = {
    tree.Show: needs_listing,
    tree.Describe: needs_describing,
    tree.AssertTopic: needs_assertion,
    tree.AssertSchema: needs_assertion,
}


def needs(statement: Statement, catalog: Catalog) -> Needs:
    """What `decide` asks for: call it first, look that up, and hand it in as `Facts`."""
    return NEEDS.get(type(statement), needs_logged)(statement, catalog)


def decide(
    text: str,
    statement: Statement,
    catalog: Catalog,
    session: Session,
    facts: Facts,
    library: FunctionLibrary,
) -> Decision:
    """`text` is the statement's own, as `parse` returns it after `Session.substituted`. Reads only. SqlError where the
    statement is refused."""
    kind = type(statement)
    if kind in LOGGED:
        return decide_logged(statement, Asked(text, catalog, session, facts, library))
    if kind in NOT_LOGGED:
        return NOT_LOGGED[kind](statement, catalog, session, facts, library)
    match statement:
        case tree.Explain():
            return decide_explaining(statement, catalog, session, facts, library, text)
        case tree.CreateConnector() | tree.DropConnector():
            return Decision(forward=Forward(statement))
    raise SqlError(f"{kind.__name__} is no statement that can be executed here", statement.at)
