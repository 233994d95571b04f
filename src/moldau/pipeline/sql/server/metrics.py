"""What the server measures, in Prometheus' text format (version 0.0.4). Pure: values in, text out."""

from collections.abc import Iterable, Mapping
from typing import Final

from moldau.pipeline.sql.queries import TableStatus
from moldau.pipeline.sql.server.requests import QueryRuntime

PREFIX: Final = "moldau_sql_"
STATES: Final = ("RUNNING", "PAUSED", "ERROR", "UNRESPONSIVE")


def metrics_text(
    queries: Iterable[QueryRuntime],
    tables: Iterable[TableStatus],
    *,
    transient_running: int,
    transient_started: Mapping[str, int],
    transient_failed: Mapping[str, int],
    is_host: bool,
    commands: int,
) -> str:
    states = [query.state for query in queries]
    kept = list(tables)
    lines = [
        *_family("persistent_queries", "gauge", "Persistent queries, by state."),
        *(_sample("persistent_queries", states.count(state), state=state) for state in STATES),
        *_family("transient_queries", "gauge", "Push and pull queries that run now."),
        _sample("transient_queries", transient_running),
        *_family("transient_queries_total", "counter", "Push and pull queries that were started."),
        *(
            _sample("transient_queries_total", count, kind=kind.lower())
            for kind, count in transient_started.items()
        ),
        *_family("transient_failures_total", "counter", "Push and pull queries that could not be started."),
        *(
            _sample("transient_failures_total", count, kind=kind.lower())
            for kind, count in transient_failed.items()
        ),
        *_family("hosts_queries", "gauge", "1 where this server hosts the persistent queries."),
        _sample("hosts_queries", int(is_host)),
        *_family("command_offset", "gauge", "The offset after the last command that was read."),
        _sample("command_offset", commands),
        *_family("table_entries", "gauge", "Rows of a table that is kept for pull queries."),
        *(_sample("table_entries", table.entries, table=table.name) for table in kept),
        *_family("table_bytes", "gauge", "Bytes of the keys and values of such a table."),
        *(_sample("table_bytes", table.bytes_held, table=table.name) for table in kept),
        *_family("table_lag_records", "gauge", "Records of its topic that are not loaded yet."),
        *(_sample("table_lag_records", table.lag, table=table.name) for table in kept),
    ]
    return "\n".join(lines) + "\n"


def _family(name: str, kind: str, text: str) -> tuple[str, str]:
    return f"# HELP {PREFIX}{name} {text}", f"# TYPE {PREFIX}{name} {kind}"


def _sample(name: str, value: float, **labels: str) -> str:
    shown = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
    return f"{PREFIX}{name}{{{shown}}} {value}" if shown else f"{PREFIX}{name} {value}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
