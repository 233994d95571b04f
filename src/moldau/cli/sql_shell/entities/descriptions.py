"""DESCRIBE and EXPLAIN as text."""

import textwrap
from collections.abc import Callable, Mapping
from typing import Any, Final

from moldau.cli.sql_shell.entities.schemas import column_text
from moldau.cli.sql_shell.grid import Style, table

Entity = Mapping[str, Any]
Renderer = Callable[[Entity, Style], list[str]]


def _source_entity(entity: Entity, style: Style) -> list[str]:
    return source_lines(entity.get("sourceDescription") or {}, style)


def _source_list(entity: Entity, style: Style) -> list[str]:
    lines: list[str] = []
    for each in entity.get("sourceDescriptions") or ():
        lines += [*([""] if lines else []), *source_lines(each, style)]
    return lines or ["There are none."]


def source_lines(source: Entity, style: Style) -> list[str]:
    lines = [f"Name: {source.get('name')}"]
    if source.get("extended"):
        lines += _facts(
            ("Type", source.get("type")),
            ("Timestamp column", source.get("timestamp") or "not set: the timestamp of the record"),
            ("Key format", source.get("keyFormat")),
            ("Value format", source.get("valueFormat")),
            ("Topic", _topic(source)),
            ("Window", source.get("windowType")),
            ("Statement", source.get("statement")),
        )
    lines += ["", *_columns(source, style)]
    if not source.get("extended"):
        return [*lines, f"DESCRIBE {source.get('name')} EXTENDED; for queries, offsets and statistics."]
    for title, key in (
        ("Queries that read from it", "readQueries"),
        ("Queries that write to it", "writeQueries"),
    ):
        queries = source.get(key) or ()
        if queries:
            rows = [(each.get("id"), each.get("state"), _flat(each.get("queryString"))) for each in queries]
            lines += ["", title, *table(("Query", "Status", "Statement"), rows, style)]
    if source.get("sourceConstraints"):
        lines += ["", f"Used by: {', '.join(source['sourceConstraints'])}"]
    for title, key in (("Statistics", "statistics"), ("Errors", "errorStats")):
        if source.get(key):
            lines += ["", title, *_indented(source[key])]
    return [*lines, *_offsets(source, style)]


def _topic(source: Entity) -> str | None:
    topic = source.get("topic")
    partitions, replicas = source.get("partitions"), source.get("replication")
    return f"{topic} (partitions: {partitions}, replicas: {replicas})" if partitions else topic


def _columns(description: Entity, style: Style) -> list[str]:
    windowed = description.get("windowType") or None
    is_table = description.get("type") == "TABLE"
    rows = [
        (field.get("name"), _column(field, windowed, is_table)) for field in description.get("fields") or ()
    ]
    return table(("Field", "Type"), rows, style)


def _column(field: Entity, windowed: str | None, is_table: bool) -> str:
    text = column_text(field, windowed=windowed)
    return text.replace("(key", "(primary key") if is_table else text


def _offsets(source: Entity, style: Style) -> list[str]:
    lines: list[str] = []
    for summary in source.get("queryOffsetSummaries") or ():
        lines += ["", f"Consumer group: {summary.get('groupId')}"]
        for topic in summary.get("topicSummaries") or ():
            rows = [
                (
                    each.get("partition"),
                    each.get("logStartOffset"),
                    each.get("logEndOffset"),
                    each.get("consumerOffset"),
                    (each.get("logEndOffset") or 0) - (each.get("consumerOffset") or 0),
                )
                for each in topic.get("offsets") or ()
            ]
            lines.append(f"Topic: {topic.get('kafkaTopic')}")
            lines += table(("Partition", "Start offset", "End offset", "Offset", "Lag"), rows, style)
    return lines


def _query_entity(entity: Entity, style: Style) -> list[str]:
    return query_lines(entity.get("queryDescription") or {}, style)


def _query_list(entity: Entity, style: Style) -> list[str]:
    lines: list[str] = []
    for each in entity.get("queryDescriptions") or ():
        lines += [*([""] if lines else []), *query_lines(each, style)]
    return lines or ["There are no queries."]


def query_lines(query: Entity, style: Style) -> list[str]:
    lines = _facts(
        ("Query", query.get("id")),
        ("Type", query.get("queryType")),
        ("State", query.get("state")),
        ("Reads", ", ".join(query.get("sources") or ())),
        ("Writes", ", ".join(query.get("sinks") or ())),
        ("Consumer group", query.get("consumerGroupId")),
        ("Statement", query.get("statementText")),
    )
    statuses = query.get("ksqlHostQueryStatus") or {}
    lines += [f"On {host}: {status}" for host, status in sorted(statuses.items())]
    if query.get("fields"):
        lines += ["", *_columns(query, style)]
    for title, key in (("Execution plan", "executionPlan"), ("Topology", "topology")):
        if query.get(key):
            lines += ["", title, *_indented(query[key])]
    if query.get("overriddenProperties"):
        lines += [
            "",
            "Properties",
            *table(("Property", "Value"), sorted(query["overriddenProperties"].items()), style),
        ]
    if query.get("queryErrors"):
        rows = [
            (each.get("timestamp"), each.get("type"), _flat(each.get("errorMessage")))
            for each in query["queryErrors"]
        ]
        lines += ["", "Errors", *table(("Time", "Type", "Message"), rows, style)]
    return lines


def _function(entity: Entity, style: Style) -> list[str]:
    lines = _facts(
        ("Function", entity.get("name")),
        ("Type", str(entity.get("type") or "").lower()),
        ("Author", entity.get("author")),
        ("Version", entity.get("version")),
        ("Overview", entity.get("description")),
        ("Loaded from", entity.get("path")),
    )
    for each in entity.get("functions") or ():
        arguments = [
            f"{argument.get('name') or 'value'} {argument.get('type')}{'...' if argument.get('isVariadic') else ''}"
            for argument in each.get("arguments") or ()
        ]
        lines += ["", f"{entity.get('name')}({', '.join(arguments)}) returns {each.get('returnType')}"]
        lines += _indented(each.get("description") or "", style.width)
        for argument in each.get("arguments") or ():
            if argument.get("description"):
                lines += _indented(
                    f"{argument.get('name') or 'value'}: {argument['description']}", style.width
                )
    if entity.get("examples"):
        lines += ["", "Examples", *_indented("\n".join(entity["examples"]))]
    return lines


def _topic_description(entity: Entity, style: Style) -> list[str]:
    return _facts(
        ("Topic", entity.get("kafkaTopic") or entity.get("name")),
        ("Format", entity.get("format")),
        ("Schema", entity.get("schemaString")),
    )


def _connector(entity: Entity, style: Style) -> list[str]:
    status = entity.get("status") or {}
    connector = status.get("connector") or {}
    lines = _facts(
        ("Connector", status.get("name")),
        ("Class", entity.get("connectorClass")),
        ("Type", status.get("type")),
        ("State", connector.get("state")),
        ("Worker", connector.get("worker_id")),
        ("Topics", ", ".join(entity.get("topics") or ())),
    )
    tasks = [
        (each.get("id"), each.get("state"), _flat(each.get("trace"))) for each in status.get("tasks") or ()
    ]
    if tasks:
        lines += ["", *table(("Task", "State", "Error"), tasks, style)]
    for each in entity.get("sources") or ():
        lines += ["", *source_lines(each, style)]
    return lines


def _plan(entity: Entity, style: Style) -> list[str]:
    return str(entity.get("executionPlan") or "").splitlines()


def _facts(*facts: tuple[str, object]) -> list[str]:
    """Those that are known, names aligned; a text of several lines continues below its first."""
    known = [(name, str(value)) for name, value in facts if value not in (None, "")]
    width = max((len(name) for name, _ in known), default=0)
    lines = []
    for name, value in known:
        first, *others = value.strip().splitlines() or [""]
        lines.append(f"{name:<{width}} : {first}")
        lines += [f"{'':<{width}}   {other}" for other in others]
    return lines


def _indented(text: object, width: int | None = None) -> list[str]:
    lines = str(text).strip("\n").splitlines()
    if width is not None:
        lines = [part for line in lines for part in textwrap.wrap(line, max(20, width - 2)) or [""]]
    return [f"  {line}".rstrip() for line in lines]


def _flat(text: object) -> str:
    return " ".join(str(text or "").split())


DESCRIPTIONS: Final[Mapping[str, Renderer]] = {
    "sourceDescription": _source_entity,
    "source_descriptions": _source_list,
    "queryDescription": _query_entity,
    "query_descriptions": _query_list,
    "describe_function": _function,
    "topicDescription": _topic_description,
    "connector_description": _connector,
    "executionPlan": _plan,
}
