import json

import pytest

from moldau.pipeline.sql.engine import Command
from moldau.pipeline.sql.syntax.errors import SqlError


def test_a_command_travels_in_the_json_of_ksqldb() -> None:
    command = Command("stream", "a/b", "create", "CREATE STREAM ...;", {"auto.offset.reset": "earliest"})
    key, value = command.to_bytes()
    assert json.loads(key) == "stream/a/b/create"
    assert json.loads(value)["streamsProperties"] == {"auto.offset.reset": "earliest"}
    assert Command.from_bytes(key, value) == command


def test_what_ksqldb_leaves_out_has_its_default() -> None:
    command = Command.from_bytes(b'"terminate/CSAS_A_1/execute"', b'{"statement": "TERMINATE CSAS_A_1;"}')
    assert (command.entity, command.name, command.action) == ("terminate", "CSAS_A_1", "execute")
    assert command.properties == {}


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        (b'"stream/A/create"', b"{}", "is not a command"),
        (b'"stream"', b'{"statement": ";"}', "is not a command"),
        (b"\x00", b'{"statement": ";"}', "is not a command"),
        (b'"stream/A/create"', b"not json", "is not a command"),
        (b'"stream/A/create"', b'{"statement": ";", "version": 99}', "Upgrade this server"),
    ],
)
def test_records_that_are_no_commands(key: bytes, value: bytes, said: str) -> None:
    with pytest.raises(SqlError) as wrong:
        Command.from_bytes(key, value)
    assert said in str(wrong.value)
