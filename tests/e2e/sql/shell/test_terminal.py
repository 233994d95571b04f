"""The shell on a terminal."""

from pathlib import Path

import pytest

from compat.server_process import wait_until
from e2e.sql.server.sql_process import SqlClient
from e2e.sql.shell.terminal import CTRL_C, CTRL_D, ENTER, PATIENCE_S, TerminalShell

pytestmark = pytest.mark.slow


def test_a_statement_may_take_several_lines(shell: TerminalShell, stream: str) -> None:
    shell.enter("SELECT ID, N")
    shell.enter(f"FROM {stream};")
    shell.wait_for("ID | N")
    assert "b  | 2" in shell.wait_for("2 rows")


def test_ctrl_c_ends_a_push_query_but_not_the_shell(
    shell: TerminalShell, stream: str, client: SqlClient
) -> None:
    def push_queries() -> set[str]:
        (answer,) = client.ksql("SHOW QUERIES;")
        return {one["id"] for one in answer["queries"] if one["queryType"] == "PUSH"}

    shell.enter("SET 'auto.offset.reset' = 'earliest';")
    shell.enter(f"SELECT ID, N * 10 AS TENFOLD FROM {stream} EMIT CHANGES;")
    shell.wait_for("20")
    client.ksql(f"INSERT INTO {stream} VALUES ('c', 7);")
    shell.wait_for("70")
    shell.press(CTRL_C)
    shell.wait_for("Ended.")
    wait_until(lambda: not push_queries(), "the query ends at the server")
    shell.enter("SHOW STREAMS;")
    shell.wait_for(stream)
    shell.type(CTRL_D)
    assert shell.wait_for_end() == 0


def test_ctrl_c_drops_the_line_that_is_typed(shell: TerminalShell) -> None:
    shell.type("SELECT nonsense" + CTRL_C)
    shell.enter("version")
    shell.wait_for("Shell: ")


def test_an_error_has_its_caret(shell: TerminalShell, stream: str) -> None:
    shell.enter(f"SELECT NN FROM {stream};")
    told = shell.wait_for("Did you mean N?")
    assert "unknown column NN" in told
    assert "^" in told


def test_names_of_columns_are_completed(shell: TerminalShell, client: SqlClient) -> None:
    shell.enter(
        "CREATE STREAM sensor_readings (sensor STRING KEY, temperature DOUBLE) "
        "WITH (KAFKA_TOPIC='readings', VALUE_FORMAT='JSON', PARTITIONS=1);"
    )
    shell.wait_for("Stream created")

    def completed() -> bool:
        # The names come in the background.
        if shell.completes("SELECT temp", "erature"):
            shell.completes(" FROM sensor_r", "eadings")
        shell.type(";" + ENTER)
        shell.wait_for("sql> ")
        return "temperature FROM sensor_readings;" in shell.history_path.read_text()

    wait_until(completed, "the names of the stream and its column are completed", PATIENCE_S)


def test_history_is_kept(sql_url: str, tmp_path: Path) -> None:
    with TerminalShell(sql_url, tmp_path) as first:
        first.wait_for("Connected to")
        first.enter("SHOW TYPES;")
        first.wait_for("There are no types.")
        first.enter("exit")
        assert first.wait_for_end() == 0
    with TerminalShell(sql_url, tmp_path) as second:
        second.wait_for("Connected to")
        second.enter("history")
        second.wait_for("1  SHOW TYPES;")


def test_spool_copies_what_is_shown(shell: TerminalShell, stream: str, tmp_path: Path) -> None:
    shell.enter("SPOOL 'session.log';")
    shell.wait_for("Output goes to")
    shell.enter(f"SELECT * FROM {stream};")
    shell.wait_for("2 rows")
    shell.enter("SPOOL OFF;")
    shell.enter("SHOW TYPES;")
    shell.wait_for("There are no types.")
    spooled = (tmp_path / "session.log").read_text()
    assert f"sql> SELECT * FROM {stream};" in spooled
    assert "2 rows" in spooled
    assert "There are no types." not in spooled


def test_commands_of_the_shell(shell: TerminalShell, stream: str, sql_url: str) -> None:
    shell.enter("help")
    shell.wait_for("RUN SCRIPT 'file';")
    shell.enter("server")
    shell.wait_for(f"Server: {sql_url}")
    shell.enter("output json")
    shell.enter(f"SELECT * FROM {stream};")
    shell.wait_for('{"ID": "a", "N": 1}')
    shell.enter("server http://127.0.0.1:1")
    shell.wait_for("no SQL server answers at http://127.0.0.1:1")
    shell.enter(f"server {sql_url}")
    shell.enter("SHOW STREAMS;")
    shell.wait_for(f'"name": "{stream}"')


def test_a_wide_table_fits_the_terminal(shell: TerminalShell, client: SqlClient) -> None:
    columns = ", ".join(f"COLUMN_NUMBER_{number} STRING" for number in range(20))
    client.ksql(
        f"CREATE STREAM WIDE (ID INT KEY, {columns}) WITH (KAFKA_TOPIC='WIDE', VALUE_FORMAT='JSON', PARTITIONS=1);"
        "INSERT INTO WIDE (ID, COLUMN_NUMBER_19) VALUES (1, 'the last');"
    )
    shell.enter("SELECT * FROM WIDE;")
    shell.wait_for("-[ row 1 ]")
    shell.wait_for("COLUMN_NUMBER_19 | the last")


def test_a_shell_without_a_server_stays_open(tmp_path: Path) -> None:
    with TerminalShell("http://127.0.0.1:1", tmp_path) as shell:
        shell.wait_for("no SQL server answers")
        shell.enter("SHOW STREAMS;")
        shell.wait_for("no SQL server answers")
        shell.type(CTRL_D)
        assert shell.wait_for_end() == 0
