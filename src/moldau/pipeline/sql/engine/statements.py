"""Every statement, decided: what to look up first, then what to do and what to answer.

SELECT without INTO, PRINT, RUN SCRIPT and the ASSERT statements of test files are not decided here: they have no effect
on what is defined.
"""

from moldau.pipeline.sql.analysis.scope import FunctionLibrary
from moldau.pipeline.sql.engine.catalog import Catalog
from moldau.pipeline.sql.engine.decision import Decision
from moldau.pipeline.sql.engine.facts import Facts, Needs
from moldau.pipeline.sql.engine.session import Session
from moldau.pipeline.sql.syntax.tree.statements import Statement


def needs(statement: Statement, catalog: Catalog) -> Needs:
    """What `decide` asks for: call it first, look that up, and hand it in as `Facts`."""
    raise NotImplementedError


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
    raise NotImplementedError
