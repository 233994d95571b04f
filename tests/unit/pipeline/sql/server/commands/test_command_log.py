"""Commands in memory, and what became of them."""

from moldau.pipeline.sql.engine import Applied, Catalog, Command
from moldau.pipeline.sql.functions.library import builtin
from moldau.pipeline.sql.server.commands.command_log import LocalLog


def test_commands_are_applied_in_their_order_and_told() -> None:
    told: list[Applied] = []
    catalog = Catalog(builtin())
    log = LocalLog(catalog, told.append)
    command = Command("type", "T", "create", "CREATE TYPE T AS STRUCT<A INT>;")
    first = log.append(lambda: command)
    assert first is not None
    assert (first.is_done, first.offset, log.statuses["type/T/create"].status) == (True, 0, "SUCCESS")
    again = log.append(lambda: command)
    assert again is not None
    assert (again.is_done, again.offset, log.statuses["type/T/create"].status) == (False, 1, "ERROR")
    assert log.append(lambda: None) is None
    assert told == [first, again]
    assert set(catalog.types) == {"T"}
