"""Queries over topics that were hidden after a stream was defined over them, and the settings that hide them."""

import asyncio

import pytest

from moldau.core.errors import ConfigError
from moldau.pipeline.sql.engine import Catalog, Command, Session
from moldau.pipeline.sql.functions.library import builtin
from moldau.pipeline.sql.queries import QueryHost
from moldau.pipeline.sql.server.failures import ServiceFailure
from moldau.pipeline.sql.server.requests import StatementRequest
from moldau.pipeline.sql.server.settings import read_configuration
from moldau.pipeline.sql.server.transient import TransientQueries
from moldau.pipeline.sql.server.user_functions import UserFunctions

NOBODY = "127.0.0.1:1"
"""Refused queries ask no broker."""


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM KEPT EMIT CHANGES;",
        "SELECT * FROM KEPT;",
        "SELECT o.k FROM OPEN o JOIN KEPT r WITHIN 1 HOUR ON o.k = r.k EMIT CHANGES;",
        "PRINT '_moldau_roles' FROM BEGINNING;",
    ],
)
def test_hidden_topics_are_not_queried(text: str) -> None:
    catalog = Catalog(builtin())
    for offset, (name, topic) in enumerate((("KEPT", "_moldau_roles"), ("OPEN", "open"))):
        columns = f"(k STRING KEY, v STRING) WITH (KAFKA_TOPIC='{topic}', FORMAT='KAFKA')"
        command = Command("stream", name, "create", f"CREATE STREAM {name} {columns};")
        assert catalog.replay(command, offset).is_done, "what is in the log stays defined"
    configuration = read_configuration(overrides=[f"bootstrap.servers={NOBODY}"])
    host = QueryHost(NOBODY, {})
    queries = TransientQueries(
        configuration.settings, catalog, host, UserFunctions("none"), lambda: configuration.effective
    )
    try:
        with pytest.raises(ServiceFailure, match=r"_moldau_roles is internal.*ksql\.hidden\.topics"):
            asyncio.run(queries.start(StatementRequest(text), Session()))
    finally:
        host.close()


def test_the_settings_are_checked_when_the_server_starts() -> None:
    found = read_configuration("ksql.hidden.topics=own.*, secret\nksql.readonly.topics=\n")
    assert found.settings.hidden_topics == ("own.*", "secret")
    assert found.settings.readonly_topics == ()
    assert found.without_effect == []
    assert "_moldau_.*" in read_configuration().effective["ksql.hidden.topics"]
    with pytest.raises(ConfigError, match=r"ksql\.readonly\.topics.*regular expressions"):
        read_configuration("ksql.readonly.topics=own(\n")
