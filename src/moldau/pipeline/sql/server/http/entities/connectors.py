"""What a Connect cluster answered, as ksqlDB's entities."""

from collections.abc import Mapping
from typing import Any, Final

from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.engine.answers import SourceDescription
from moldau.pipeline.sql.server.http.entities.context import Context
from moldau.pipeline.sql.server.http.entities.schemas import Json
from moldau.pipeline.sql.server.http.entities.sources import described
from moldau.pipeline.sql.server.requests import ConnectAnswer

CONFLICT: Final = 409
NOT_FOUND: Final = 404


def connect_entity(answer: ConnectAnswer, context: Context) -> Json:
    """A conflict, or a connector that is not there, is what IF NOT EXISTS and IF EXISTS allow."""
    match answer.kind:
        case "CREATE" if answer.status == CONFLICT:
            return {"@type": "warning_entity", "message": f"Connector {answer.name} already exists"}
        case "CREATE":
            return {"@type": "connector_info", "info": answer.body}
        case "DROP" if answer.status == NOT_FOUND:
            return {"@type": "warning_entity", "message": f"Connector '{answer.name}' does not exist."}
        case "DROP":
            return {"@type": "drop_connector", "connectorName": answer.name}
        case "LIST":
            return {"@type": "connector_list", "connectors": _listed(_mapping(answer.body))}
        case "PLUGINS":
            return {"@type": "connector_plugins_list", "connectorsPlugins": _plugins(answer.body)}
        case "DESCRIBE":
            return _description(answer, context)


def _listed(body: Mapping[str, Any]) -> list[Json]:
    """Of `GET /connectors?expand=info&expand=status`."""
    found = []
    for name, expanded in body.items():
        info, status = _mapping(expanded.get("info")), _mapping(expanded.get("status"))
        found.append(
            {
                "name": name,
                "type": status.get("type") or info.get("type") or "unknown",
                "className": _mapping(info.get("config")).get("connector.class"),
                "state": _state(status),
            }
        )
    return found


def _state(status: Mapping[str, Any]) -> str:
    """In a few words: `RUNNING (2/2 tasks RUNNING)`, `WARNING (1/2 tasks RUNNING)`, `FAILED`."""
    state = str(_mapping(status.get("connector")).get("state") or "UNKNOWN")
    tasks = [_mapping(task).get("state") for task in status.get("tasks") or ()]
    if state != "RUNNING" or not tasks:
        return state
    running = tasks.count("RUNNING")
    shown = "RUNNING" if running == len(tasks) else "WARNING" if running else "FAILED"
    return f"{shown} ({running}/{len(tasks)} tasks RUNNING)"


def _plugins(body: object) -> list[Json]:
    plugins = [_mapping(plugin) for plugin in body] if isinstance(body, list) else []
    return [
        {"className": one.get("class"), "type": one.get("type"), "version": one.get("version")}
        for one in plugins
    ]


def _description(answer: ConnectAnswer, context: Context) -> Json:
    info, status = _mapping(answer.body), _mapping(answer.connector_status)
    sources = [source for source in context.sources.values() if source.topic in answer.topics]
    return {
        "@type": "connector_description",
        "connectorClass": _mapping(info.get("config")).get("connector.class"),
        "status": {
            "name": answer.name,
            "connector": _worker_state(_mapping(status.get("connector"))),
            "tasks": [
                {"id": task.get("id"), **_worker_state(task)}
                for task in map(_mapping, status.get("tasks") or ())
            ],
            "type": status.get("type") or info.get("type"),
        },
        "sources": [_source(source, context) for source in sources],
        "topics": list(answer.topics),
    }


def _worker_state(of: Mapping[str, Any]) -> Json:
    return {"state": of.get("state"), "worker_id": of.get("worker_id"), "trace": of.get("trace") or ""}


def _source(source: SourceInfo, context: Context) -> Json:
    return described(SourceDescription(source), context)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
