"""Every statement, decided: what to look up first, then what to do and what to answer.

SELECT without INTO, PRINT, RUN SCRIPT and the ASSERT statements of test files are not decided here: they have no effect
on what is defined.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Final

from moldau.pipeline.sql.analysis.scope import FunctionLibrary
from moldau.pipeline.sql.engine.catalog import Catalog
from moldau.pipeline.sql.engine.changes import RULES as LOGGED
from moldau.pipeline.sql.engine.deciding import Asked, decide_logged, needs_logged
from moldau.pipeline.sql.engine.decision import Decision, Forward
from moldau.pipeline.sql.engine.facts import Facts, Needs
from moldau.pipeline.sql.engine.session import Session
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.syntax.tree import statements as tree
from moldau.pipeline.sql.syntax.tree.statements import Statement

Decide = Callable[..., Decision]
Need = Callable[[Statement, Catalog], Needs]

READING: Final[Mapping[type[Statement], tuple[str, str]]] = {
    tree.Show: ("listing", "listing"),
    tree.Describe: ("describing", "describing"),
    tree.Explain: ("explaining", "explaining"),
    tree.AssertTopic: ("assertions", "assertion"),
    tree.AssertSchema: ("assertions", "assertion"),
    tree.InsertValues: ("insert_values", "insert_values"),
    tree.SetProperty: ("session_changes", "session"),
    tree.UnsetProperty: ("session_changes", "session"),
    tree.Define: ("session_changes", "session"),
    tree.Undefine: ("session_changes", "session"),
}
"""Statements that are not logged: the module, and what its `decide_` and `needs_` functions are called."""


def needs(statement: Statement, catalog: Catalog) -> Needs:
    """What `decide` asks for: call it first, look that up, and hand it in as `Facts`."""
    found = READING.get(type(statement))
    if found is not None:
        module = import_module(f"{__package__}.{found[0]}")
        need: Need | None = getattr(module, f"needs_{found[1]}", None)
        return Needs() if need is None else need(statement, catalog)
    return needs_logged(statement, catalog)


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
    found = READING.get(type(statement))
    if found is not None:
        rule: Decide = getattr(import_module(f"{__package__}.{found[0]}"), f"decide_{found[1]}")
        more = (text,) if isinstance(statement, tree.Explain) else ()
        return rule(statement, catalog, session, facts, library, *more)
    if isinstance(statement, tree.CreateConnector | tree.DropConnector):
        return Decision(forward=Forward(statement))
    if type(statement) not in LOGGED:
        raise SqlError(f"{type(statement).__name__} is not a statement that defines anything", statement.at)
    return decide_logged(statement, Asked(text, catalog, session, facts, library))
