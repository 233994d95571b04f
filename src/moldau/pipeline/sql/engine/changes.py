"""What a command changes, given what is defined: the rules of every statement that is logged.

`decide` asks it before a command is written, `Catalog.replay` when it is read: both come to the same.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from moldau.pipeline.sql.analysis.scope import FunctionLibrary
from moldau.pipeline.sql.engine.command import Command
from moldau.pipeline.sql.engine.rules.logged import Logged
from moldau.pipeline.sql.engine.rules.removal import control_query, drop_source
from moldau.pipeline.sql.engine.rules.selects import create_as_select, insert_select
from moldau.pipeline.sql.engine.rules.small import alter_system, create_type, drop_type
from moldau.pipeline.sql.engine.rules.sources import alter_source, create_source
from moldau.pipeline.sql.engine.state import Change, Definitions
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.syntax.parser import parse
from moldau.pipeline.sql.syntax.tree import statements as tree
from moldau.pipeline.sql.syntax.tree.statements import Statement

RULES: Final[Mapping[type[Statement], Callable[[Any, Logged], Change]]] = {
    tree.CreateSource: create_source,
    tree.CreateAsSelect: create_as_select,
    tree.InsertSelect: insert_select,
    tree.DropSource: drop_source,
    tree.AlterSource: alter_source,
    tree.QueryControl: control_query,
    tree.CreateType: create_type,
    tree.DropType: drop_type,
    tree.AlterSystem: alter_system,
}


def change_of(
    command: Command, offset: int, defined: Definitions, library: FunctionLibrary, registry: Mapping[str, str]
) -> Change:
    """SqlError where the command does not apply."""
    try:
        statements = parse(command.statement)
        if len(statements) != 1:
            raise SqlError(f"command {command.id} has {len(statements)} statements; it must be one")
        on = Logged(
            command.statement,
            offset,
            command.properties,
            defined,
            library,
            registry,
            command.original_properties,
            command.outline,
            command.begin,
        )
        return change_by(statements[0].statement, on)
    except SqlError as wrong:
        raise wrong.within(command.statement) from None


def change_by(statement: Statement, on: Logged) -> Change:
    rule = RULES.get(type(statement))
    if rule is None:
        raise SqlError(f"{type(statement).__name__} does not belong in the command topic", statement.at)
    return rule(statement, on)
