"""SET, UNSET, DEFINE and UNDEFINE: what they make of a session."""

from dataclasses import replace

from moldau.pipeline.sql.analysis.scope import FunctionLibrary
from moldau.pipeline.sql.engine.answers import CurrentStatus
from moldau.pipeline.sql.engine.catalog import Catalog
from moldau.pipeline.sql.engine.decision import Decision
from moldau.pipeline.sql.engine.facts import Facts
from moldau.pipeline.sql.engine.server_properties import SUBSTITUTION, QuerySettings, checked, editable_name
from moldau.pipeline.sql.engine.session import Session, unknown_variable
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.syntax.tree.statements import (
    Define,
    SetProperty,
    Statement,
    Undefine,
    UnsetProperty,
)


def decide_session(
    statement: Statement, catalog: Catalog, session: Session, facts: Facts, library: FunctionLibrary
) -> Decision:
    match statement:
        case SetProperty():
            return _set(statement, session, facts)
        case UnsetProperty():
            return _unset(statement, session, facts)
        case Define(name=name, value=value):
            changed = _defined(statement, session)
            return Decision(CurrentStatus(f"Variable {name} is {value!r}."), session=changed)
        case Undefine(name=name):
            if session.variable(name) is None:
                raise unknown_variable(name, session)
            changed = session.without_variable(name)
            return Decision(CurrentStatus(f"Variable {name} is no longer defined."), session=changed)
    raise TypeError(f"{statement!r} does not change the session")


def _set(statement: SetProperty, session: Session, facts: Facts) -> Decision:
    name, value = checked(statement.name, statement.value, facts.settings, statement.at)
    before = session.properties.get(name)
    changed = _switched(session.with_property(name, value))
    was = "" if before is None else f" It was {before!r}."
    return Decision(
        CurrentStatus(f"Property {name} is {value!r} in this session.{was}"),
        session=changed,
        warnings=_inert(name),
    )


def _unset(statement: UnsetProperty, session: Session, facts: Facts) -> Decision:
    name = editable_name(statement.name, facts.settings, statement.at)
    if name not in session.properties:
        raise SqlError(
            f"property {name} is not set in this session",
            statement.at,
            hint="SHOW PROPERTIES; lists what is set; ALTER SYSTEM changes the server's value.",
        )
    changed = _switched(session.without_property(name))
    return Decision(CurrentStatus(f"Property {name} has the server's value again."), session=changed)


def _switched(session: Session) -> Session:
    """Whether variables are substituted is a property itself."""
    return replace(session, substitutes=session.properties.get(SUBSTITUTION, "true").lower() == "true")


def _defined(statement: Define, session: Session) -> Session:
    try:
        return session.with_variable(statement.name, statement.value)
    except SqlError as wrong:
        raise SqlError(wrong.message, statement.at, hint=wrong.hint) from None


def _inert(name: str) -> tuple[str, ...]:
    key = QuerySettings.KEYS.get(name)
    if key is None or not key.inert:
        return ()
    return (f"{name} is accepted but has no effect: {key.inert}.",)
