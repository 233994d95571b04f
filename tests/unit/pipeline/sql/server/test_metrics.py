"""Prometheus' text format."""

from moldau.pipeline.sql.queries import TableStatus
from moldau.pipeline.sql.server.metrics import metrics_text
from moldau.pipeline.sql.server.requests import QueryRuntime


def test_each_measure_has_its_line() -> None:
    text = metrics_text(
        [QueryRuntime("A", "RUNNING"), QueryRuntime("B", "ERROR"), QueryRuntime("C", "RUNNING")],
        [TableStatus('odd"name', "topic", True, 4, 20, 300)],
        transient_running=1,
        transient_started={"PUSH": 2, "PULL": 3},
        transient_failed={"PUSH": 0, "PULL": 0},
        is_host=True,
        commands=9,
    )
    lines = text.splitlines()
    assert 'moldau_sql_persistent_queries{state="RUNNING"} 2' in lines
    assert 'moldau_sql_transient_queries_total{kind="pull"} 3' in lines
    assert 'moldau_sql_table_entries{table="odd\\"name"} 20' in lines
    assert "moldau_sql_hosts_queries 1" in lines
    described = {line.split()[2] for line in lines if line.startswith("# TYPE")}
    assert {line.split("{")[0].split()[0] for line in lines if not line.startswith("#")} == described
