"""A file of statements, run at the start by a server that takes no others (`ksql.queries.file`)."""

from pathlib import Path
from typing import Final

from moldau.core.errors import ConfigError
from moldau.pipeline.sql.engine import Session
from moldau.pipeline.sql.server.execution import Execution
from moldau.pipeline.sql.server.failures import ServiceFailure
from moldau.pipeline.sql.server.statement_texts import parsed, statement_texts
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.syntax.tree import statements as tree

ALLOWED: Final = (
    tree.CreateSource,
    tree.CreateAsSelect,
    tree.InsertSelect,
    tree.CreateType,
    tree.SetProperty,
    tree.UnsetProperty,
    tree.Define,
    tree.Undefine,
)


def run_file(path: Path, execution: Execution) -> None:
    """Raises ConfigError for the first statement that fails."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"ksql.queries.file: cannot read {path}: {error}") from None
    session = Session()
    try:
        texts = statement_texts(text)
    except SqlError as wrong:
        raise ConfigError(f"{path}: {wrong.within(text)}") from None
    for one in texts:
        try:
            statement = parsed(one, session).statement
            if not isinstance(statement, ALLOWED):
                raise SqlError(
                    "this statement has no meaning in a file of queries",
                    statement.at,
                    hint="It has CREATE, INSERT INTO ... SELECT, SET and DEFINE.",
                ).within(one)
            session = execution.run_blocking(one, session)
        except (SqlError, ServiceFailure) as wrong:
            raise ConfigError(f"{path}: {wrong}\nIn the statement: {one.strip()}") from None
