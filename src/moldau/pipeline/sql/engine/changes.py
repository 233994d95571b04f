"""What a command changes, given what is defined: the rules of every statement that is logged.

`decide` asks it before a command is written, `Catalog.replay` when it is read: both come to the same.
"""

from collections.abc import Mapping

from moldau.pipeline.sql.analysis.scope import FunctionLibrary
from moldau.pipeline.sql.engine.command import Command
from moldau.pipeline.sql.engine.state import Change, Definitions


def change_of(
    command: Command, offset: int, defined: Definitions, library: FunctionLibrary, registry: Mapping[str, str]
) -> Change:
    """SqlError where the command does not apply."""
    raise NotImplementedError
