"""The table of routes as an OpenAPI 3.1 document."""

from collections.abc import Sequence
from typing import Any, Final

from moldau import __version__
from moldau.proxies.rest.http.answers import JSON, V2
from moldau.proxies.rest.http.negotiation import EMBEDDED, EVENTS
from moldau.proxies.rest.http.routing import RECORDS_BODY, Route, parameter_names
from moldau.proxies.rest.metrics import CONTENT_TYPE
from moldau.proxies.rest.pages.schemas import INT_MAX, LONG_MAX, SCHEMAS

NUMBERS: Final = frozenset({"partition", "partition_id", "broker_id"})
QUERY_SCHEMAS: Final[dict[str, Any]] = {
    "offsets": {"enum": ["string", "number"]},
    "timeout": {"type": "integer", "minimum": -1, "maximum": LONG_MAX},
    "max_bytes": {"type": "integer", "minimum": -1, "maximum": LONG_MAX},
    "include_authorized_operations": {"type": "boolean"},
    "topic": {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1},
    "from": {"enum": ["earliest", "latest"]},
    "format": {"enum": ["json", "binary", "avro", "jsonschema", "protobuf"]},
    "resource_type": {"enum": ["ANY", "TOPIC", "GROUP", "CLUSTER", "TRANSACTIONAL_ID"]},
    "pattern_type": {"enum": ["ANY", "MATCH", "LITERAL", "PREFIXED"]},
    "operation": {"enum": ["ANY", "ALL", "READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE"]},
    "permission": {"enum": ["ANY", "ALLOW", "DENY"]},
}
OTHER_TYPES: Final = {"Text": CONTENT_TYPE, "Page": "text/html; charset=utf-8", "Events": EVENTS}
NEEDED: Final = {"/events": {"topic"}}
NEEDED_OF_DELETE: Final = frozenset({"resource_type", "pattern_type", "operation", "permission"})


def describe(routes: Sequence[Route]) -> dict[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        if not route.hidden:
            paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Moldau REST proxy",
            "version": __version__,
            "description": "Confluent's REST Proxy API, versions 2 and 3, over any Kafka cluster, and more.",
        },
        "paths": paths,
        "components": {"schemas": SCHEMAS},
    }


def _operation(route: Route) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "summary": route.summary,
        "operationId": f"{route.method.lower()}{route.path}".replace("/", "_").strip("_"),
        "tags": [_tag(route.path)],
        "parameters": [*map(_path_parameter, parameter_names(route)), *_query_parameters(route)],
        "responses": {str(status): _success(route) for status in dict.fromkeys([route.status, *_also(route)])}
        | {"default": {"description": "An error, with what to do", "content": _content("Error", [JSON, V2])}},
    }
    if route.body is not None:
        types = list(EMBEDDED) if route.body_kind == RECORDS_BODY else _own_types(route.path)
        operation["requestBody"] = {
            "required": route.body_required,
            "content": _content(route.body, types, optional=not route.body_required),
        }
    return operation


def _also(route: Route) -> list[int]:
    """A topic that is only checked is answered with 200."""
    return [200] if route.body == "V3NewTopic" else []


def _success(route: Route) -> dict[str, Any]:
    if route.answer is None:
        return {"description": "Done"}
    other = OTHER_TYPES.get(route.answer)
    types = [other] if other else _own_types(route.path)
    if route.answer == "V2ConsumedList":
        types = [*EMBEDDED, JSON]
    return {"description": "Done", "content": _content(route.answer, types)}


def _own_types(path: str) -> list[str]:
    return [JSON] if path.startswith("/v3/") else [V2, JSON]


def _content(name: str, types: Sequence[str], *, optional: bool = False) -> dict[str, Any]:
    """An optional body may be null, too."""
    schema: dict[str, Any] = {"$ref": f"#/components/schemas/{name}"}
    if optional:
        schema = {"anyOf": [schema, {"type": "null"}]}
    return {each: {"schema": schema} for each in types}


def _path_parameter(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string", "minLength": 1}
    if name in NUMBERS:
        schema = {"type": "integer", "minimum": 0, "maximum": INT_MAX}
    if name == "group":
        schema = {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[^\\x00]+$"}
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _query_parameters(route: Route) -> list[dict[str, Any]]:
    needed = NEEDED.get(route.path, NEEDED_OF_DELETE if route.method == "DELETE" else frozenset())
    return [
        {
            "name": name,
            "in": "query",
            "required": name in needed,
            "description": text,
            "schema": QUERY_SCHEMAS.get(name, {"type": "string"}),
        }
        for name, text in route.query.items()
    ]


def _tag(path: str) -> str:
    if path.startswith("/v3/"):
        return "version 3"
    return "version 2" if path.startswith(("/topics", "/consumers", "/brokers")) or path == "/" else "more"
