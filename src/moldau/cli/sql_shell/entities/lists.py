"""Answers that are a table or a sentence: SHOW ..., CREATE, DROP, TERMINATE, ASSERT."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from moldau.cli.sql_shell.entities.schemas import type_text
from moldau.cli.sql_shell.grid import Style, table

Entity = Mapping[str, Any]
Renderer = Callable[[Entity, Style], list[str]]


def _status(entity: Entity, style: Style) -> list[str]:
    status = entity.get("commandStatus") or {}
    return [str(status.get("message") or status.get("status") or "")]


def _sources(key: str, noun: str) -> Renderer:
    def render(entity: Entity, style: Style) -> list[str]:
        rows = [
            (
                each.get("name"),
                each.get("topic"),
                each.get("keyFormat"),
                each.get("valueFormat") or each.get("format"),
                _yes(each.get("isWindowed")),
            )
            for each in sorted(entity.get(key) or (), key=lambda each: str(each.get("name")))
        ]
        headings = (f"{noun} name", "Topic", "Key format", "Value format", "Windowed")
        return _table_or(f"There are no {key}.", headings, rows, style)

    return render


def _topics(entity: Entity, style: Style) -> list[str]:
    topics = sorted(entity.get("topics") or (), key=lambda each: str(each.get("name")))
    extended = entity.get("@type") == "kafka_topics_extended"
    headings = ["Topic", "Partitions", "Replicas", *(["Consumers", "Consumer groups"] if extended else [])]
    rows = [
        [
            each.get("name"),
            len(each.get("replicaInfo") or ()),
            _replicas(each.get("replicaInfo") or ()),
            *([each.get("consumerCount"), each.get("consumerGroupCount")] if extended else []),
        ]
        for each in topics
    ]
    return _table_or("There are no topics.", headings, rows, style)


def _replicas(counts: Sequence[int]) -> int | str:
    different = sorted(set(counts))
    return different[0] if len(different) == 1 else ", ".join(map(str, counts))


def _queries(entity: Entity, style: Style) -> list[str]:
    rows = [
        (
            each.get("id"),
            each.get("queryType"),
            _status_counts(each),
            ", ".join(each.get("sinks") or ()),
            ", ".join(each.get("sinkKafkaTopics") or ()),
            " ".join(str(each.get("queryString") or "").split()),
        )
        for each in entity.get("queries") or ()
    ]
    headings = ("Query", "Type", "Status", "Writes to", "Topic", "Statement")
    if not rows:
        return ["There are no queries."]
    return [*table(headings, rows, style), "EXPLAIN a query by its id for more about it."]


def _status_counts(query: Entity) -> str:
    counts = query.get("statusCount")
    if isinstance(counts, Mapping) and counts:
        return ", ".join(f"{name}:{count}" for name, count in sorted(counts.items()))
    return str(query.get("state") or "")


def _functions(entity: Entity, style: Style) -> list[str]:
    functions = sorted(
        entity.get("functions") or (),
        key=lambda each: (str(each.get("category") or ""), str(each.get("name"))),
    )
    rows = [
        (each.get("name"), str(each.get("type") or "").lower(), str(each.get("category") or "").lower())
        for each in functions
    ]
    if not rows:
        return ["There are no functions."]
    return [
        *table(("Function", "Type", "Category"), rows, style),
        "DESCRIBE FUNCTION name; for more about one.",
    ]


def _properties(entity: Entity, style: Style) -> list[str]:
    changed = set(entity.get("overwrittenProperties") or ())
    defaults = set(entity.get("defaultProperties") or ())
    rows = []
    for each in entity.get("properties") or ():
        if not isinstance(each, Mapping):
            continue
        name = str(each.get("name"))
        source = "session" if name in changed else "default" if name in defaults else "server"
        rows.append((name, each.get("scope") or each.get("level"), source, each.get("value")))
    return _table_or(
        "There are no properties.", ("Property", "Scope", "Set by", "Value"), sorted(rows, key=str), style
    )


def _types(entity: Entity, style: Style) -> list[str]:
    rows = [(name, type_text(schema)) for name, schema in sorted((entity.get("types") or {}).items())]
    return _table_or("There are no types.", ("Type", "Schema"), rows, style)


def _variables(entity: Entity, style: Style) -> list[str]:
    rows = [(each.get("name"), each.get("value")) for each in entity.get("variables") or ()]
    return _table_or("There are no variables.", ("Variable", "Value"), rows, style)


def _connectors(entity: Entity, style: Style) -> list[str]:
    rows = [
        (each.get("name"), each.get("type"), each.get("className"), each.get("state"))
        for each in entity.get("connectors") or ()
    ]
    return _table_or("There are no connectors.", ("Connector", "Type", "Class", "Status"), rows, style)


def _plugins(entity: Entity, style: Style) -> list[str]:
    plugins = entity.get("connectorsPlugins") or entity.get("connectorPlugins") or ()
    rows = [(each.get("className"), each.get("type"), each.get("version")) for each in plugins]
    return _table_or("There are no connector plugins.", ("Class", "Type", "Version"), rows, style)


def _connector_created(entity: Entity, style: Style) -> list[str]:
    return [f"Created connector {(entity.get('info') or {}).get('name', '')}"]


def _connector_dropped(entity: Entity, style: Style) -> list[str]:
    return [f"Dropped connector {entity.get('connectorName', '')}"]


def _terminated(entity: Entity, style: Style) -> list[str]:
    done = "terminated" if entity.get("wasTerminated") else "was not running"
    return [f"Query {entity.get('queryId')} {done}."]


def _topic_asserted(entity: Entity, style: Style) -> list[str]:
    return [f"Topic {entity.get('topicName')} {_existence(entity)}."]


def _schema_asserted(entity: Entity, style: Style) -> list[str]:
    named = [
        f"{word} {entity[key]}"
        for key, word in (("subject", "subject"), ("id", "id"))
        if entity.get(key) is not None
    ]
    return [f"Schema with {' and '.join(named)} {_existence(entity)}."]


def _existence(entity: Entity) -> str:
    return "exists" if entity.get("exists", True) else "does not exist"


def _message(entity: Entity, style: Style) -> list[str]:
    return [str(entity.get("message") or entity.get("errorMessage") or "")]


def _yes(value: object) -> str | None:
    return None if value is None else "yes" if value else "no"


def _table_or(
    nothing: str, headings: Sequence[str], rows: Sequence[Sequence[Any]], style: Style
) -> list[str]:
    return (
        table(headings, [["" if cell is None else cell for cell in row] for row in rows], style)
        if rows
        else [nothing]
    )


LISTS: Final[Mapping[str, Renderer]] = {
    "currentStatus": _status,
    "streams": _sources("streams", "Stream"),
    "tables": _sources("tables", "Table"),
    "kafka_topics": _topics,
    "kafka_topics_extended": _topics,
    "queries": _queries,
    "function_names": _functions,
    "properties": _properties,
    "type_list": _types,
    "variables": _variables,
    "connector_list": _connectors,
    "connector_plugins_list": _plugins,
    "connector_info": _connector_created,
    "drop_connector": _connector_dropped,
    "terminate_query": _terminated,
    "assert_topic": _topic_asserted,
    "assert_schema": _schema_asserted,
    "warning_entity": _message,
    "error_entity": _message,
}
