"""What a Connect cluster answered, as entities of ksqlDB."""

from typing import Any

import pytest

from moldau.pipeline.sql.definitions import Format, SourceInfo
from moldau.pipeline.sql.server.http.entities import Context
from moldau.pipeline.sql.server.http.entities.connectors import connect_entity
from moldau.pipeline.sql.server.requests import ConnectAnswer
from moldau.pipeline.sql.syntax.tree.statements import Kind
from moldau.pipeline.sql.types import STRING, Column, Schema


def status(*tasks: str, connector: str = "RUNNING") -> dict[str, Any]:
    return {
        "type": "source",
        "connector": {"state": connector, "worker_id": "w:8083"},
        "tasks": [{"id": index, "state": state, "worker_id": "w:8083"} for index, state in enumerate(tasks)],
    }


@pytest.mark.parametrize(
    ("of", "state"),
    [
        (status("RUNNING", "RUNNING"), "RUNNING (2/2 tasks RUNNING)"),
        (status("RUNNING", "FAILED"), "WARNING (1/2 tasks RUNNING)"),
        (status("FAILED"), "FAILED (0/1 tasks RUNNING)"),
        (status(connector="PAUSED"), "PAUSED"),
    ],
)
def test_a_list_sums_up_the_tasks(of: dict[str, Any], state: str) -> None:
    body = {"pg": {"info": {"config": {"connector.class": "Jdbc"}}, "status": of}}
    [found] = connect_entity(ConnectAnswer("LIST", "", 200, body), Context())["connectors"]
    assert found == {"name": "pg", "type": "source", "className": "Jdbc", "state": state}


def test_a_description_names_the_streams_over_its_topics() -> None:
    columns = Schema((), (Column("A", STRING),))
    source = SourceInfo("PAYMENTS", Kind.STREAM, columns, "pg_payments", Format("KAFKA"), Format("JSON"))
    info = {"name": "pg", "config": {"connector.class": "Jdbc"}, "type": "source"}
    answer = ConnectAnswer("DESCRIBE", "pg", 200, info, status("RUNNING"), ("pg_payments",))
    found = connect_entity(answer, Context({"PAYMENTS": source}))
    assert (found["connectorClass"], found["topics"]) == ("Jdbc", ["pg_payments"])
    assert [one["name"] for one in found["sources"]] == ["PAYMENTS"]
    assert found["status"]["tasks"][0]["worker_id"] == "w:8083"


def test_created_and_dropped() -> None:
    info = {"name": "pg", "config": {}, "tasks": [], "type": "sink"}
    assert connect_entity(ConnectAnswer("CREATE", "pg", 201, info), Context())["info"] == info
    assert connect_entity(ConnectAnswer("DROP", "pg", 204, None), Context())["connectorName"] == "pg"


@pytest.mark.parametrize(
    "answer", [ConnectAnswer("CREATE", "pg", 409, {}), ConnectAnswer("DROP", "pg", 404, {})]
)
def test_nothing_to_do_is_a_warning(answer: ConnectAnswer) -> None:
    found = connect_entity(answer, Context())
    assert found["@type"] == "warning_entity"
    assert "pg" in found["message"]


def test_plugins() -> None:
    body = [{"class": "Jdbc", "type": "sink", "version": "1.0"}]
    found = connect_entity(ConnectAnswer("PLUGINS", "", 200, body), Context())
    assert found["connectorsPlugins"] == [{"className": "Jdbc", "type": "sink", "version": "1.0"}]
