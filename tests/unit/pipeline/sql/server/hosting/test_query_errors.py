"""Errors of persistent queries: in the state of the query, in the log, and with advice in SQL."""

import logging
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from moldau.pipeline.sql.engine import Catalog, Command
from moldau.pipeline.sql.functions.library import builtin
from moldau.pipeline.sql.server.hosting.membership import Membership
from moldau.pipeline.sql.server.hosting.query_driver import QueryDriver
from moldau.pipeline.sql.server.hosting.query_errors import in_sql
from moldau.pipeline.sql.server.requests import SourceStatistics
from moldau.pipeline.sql.server.settings import read_configuration
from moldau.pipeline.sql.server.statistics import Statistics

STATEMENTS = (
    (
        "ORDERS",
        "CREATE STREAM ORDERS (ID STRING KEY, V INT) "
        "WITH (KAFKA_TOPIC='orders', VALUE_FORMAT='JSON', PARTITIONS=1, KEY_FORMAT='KAFKA');",
    ),
    (
        "BIG",
        "CREATE STREAM BIG WITH (KAFKA_TOPIC='BIG', PARTITIONS=1, REPLICAS=1, KEY_FORMAT='KAFKA', VALUE_FORMAT='JSON') "
        "AS SELECT * FROM ORDERS WHERE V > 10 EMIT CHANGES;",
    ),
)
QUERY_ID = "CSAS_BIG_1"
APPLICATION = f"_confluent-ksql-default_query_{QUERY_ID}"
CLIENT = {"bootstrap.servers": "127.0.0.1:1", "log_level": 0}
LOST = f"the topic orders was deleted. To use the new one: moldau streams reset {APPLICATION}"
IN_SQL = (
    "the topic orders was deleted. To use the new one: "
    f"TERMINATE {QUERY_ID}; DROP STREAM BIG; and then its CREATE again"
)


def catalog() -> Catalog:
    found = Catalog(builtin())
    for offset, (name, statement) in enumerate(STATEMENTS):
        assert found.replay(Command("stream", name, "create", statement), offset).is_done
    return found


def status(state: str, last_error: str | None = None) -> dict[str, Any]:
    numbers = dict.fromkeys(("records_in", "records_out", "restarts", "records_dead", "batches"), 0)
    rates = dict.fromkeys(("records_in_per_s", "records_out_per_s"), 0.0)
    lags = dict.fromkeys(("lag_records", "lag_ms", "batch_ms"))
    return {
        "application_id": APPLICATION,
        "state": state,
        "last_error": last_error,
        **numbers,
        **rates,
        **lags,
    }


def test_a_failed_query_is_in_the_log_and_in_descriptions(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "moldau.sql")
    configuration = read_configuration(overrides=[f"ksql.streams.state.dir={tmp_path}"])
    defined, admin = catalog(), AdminClient(CLIENT)
    driver = QueryDriver(configuration, defined, admin, lambda: (), lambda _: None)
    membership = Membership(
        CLIENT,
        "topic",
        "http://127.0.0.1:1",
        session_timeout_ms=6_000,
        heartbeat_interval_ms=500,
        on_turn=driver.turn,
    )
    membership.is_host = True
    statistics = Statistics(configuration.settings, defined, admin, CLIENT, driver, membership, None)  # type: ignore[arg-type]
    for state in ("restarting", "restarting", "failed"):
        driver._hear(status(state, LOST))
    [found] = statistics.query_runtimes().values()
    assert (found.state, [each.message for each in found.errors]) == ("ERROR", [IN_SQL])
    assert IN_SQL in found.detail
    lines = [record.message for record in caplog.records if QUERY_ID in record.message]
    assert lines == [f"the query {QUERY_ID} is in the state ERROR, it is started again: {IN_SQL}"]
    for state in ("starting", "running", "running"):
        driver._hear(status(state, LOST))
    assert statistics.query_runtimes()[QUERY_ID].state == "RUNNING"
    lines = [record.message for record in caplog.records if QUERY_ID in record.message]
    assert lines[1:] == [f"the query {QUERY_ID} is in the state RUNNING again"]


def test_an_extended_description_has_the_last_error() -> None:
    told = SourceStatistics(failed=2, query_errors=((QUERY_ID, IN_SQL),)).error_stats.splitlines()
    assert "consumer-total-message-errors:         2" in told[0]
    assert told[1] == f"last error of {QUERY_ID}: {IN_SQL}"


@pytest.mark.parametrize(
    "command",
    [
        "moldau streams reset",
        f"moldau streams reset {APPLICATION}",
        f"moldau streams reset {APPLICATION} --checkpoint-lost",
    ],
)
def test_advice_is_sql(command: str) -> None:
    query = catalog().queries[QUERY_ID]
    assert in_sql(f"Restore it ({command}).", query, APPLICATION) == (
        f"Restore it (TERMINATE {QUERY_ID}; DROP STREAM BIG; and then its CREATE again)."
    )
