"""`queries`, `queryDescription` and `query_descriptions`."""

from moldau.pipeline.sql.engine.answers import Explanation, QueriesList
from moldau.pipeline.sql.engine.state import PersistentQuery
from moldau.pipeline.sql.server.http.entities.context import Context
from moldau.pipeline.sql.server.http.entities.schemas import Json, schema_fields
from moldau.pipeline.sql.server.requests import QueryRuntime, TransientQuery


def queries_list(answer: QueriesList, context: Context) -> Json:
    if answer.is_extended:
        described = [description(one, context) for one in answer.explanations]
        return {"@type": "query_descriptions", "queryDescriptions": described}
    persistent = [running_query(one, context) for one in answer.queries]
    return {
        "@type": "queries",
        "queries": persistent + [_transient(one) for one in context.runtime.transient],
    }


def running_query(query: PersistentQuery, context: Context) -> Json:
    state = _state(query, context.runtime.queries.get(query.id))
    return {
        "queryString": query.statement,
        "sinks": [query.sink],
        "sinkKafkaTopics": context.topics(query.sink),
        "id": query.id,
        "statusCount": {state: 1},
        "queryType": "PERSISTENT",
        "state": state,
    }


def _transient(query: TransientQuery) -> Json:
    return {
        "queryString": query.statement,
        "sinks": [],
        "sinkKafkaTopics": [],
        "id": query.id,
        "statusCount": {"RUNNING": 1},
        "queryType": query.kind,
        "state": "RUNNING",
    }


def explanation(answer: Explanation, context: Context) -> Json:
    return {"@type": "queryDescription", "queryDescription": description(answer, context)}


def description(answer: Explanation, context: Context) -> Json:
    query = answer.query
    found: Json = {
        "id": "" if query is None else query.id,
        "statementText": answer.statement,
        "windowType": answer.window_type,
        "fields": schema_fields(answer.schema),
        "sources": list(answer.sources),
        "sinks": [] if answer.sink is None else [answer.sink.name],
        "topology": answer.topology,
        "executionPlan": answer.plan,
        "overriddenProperties": dict(answer.overridden),
        "ksqlHostQueryStatus": {},
        "queryType": "PUSH" if answer.sink is None else "PERSISTENT",
        "queryErrors": [],
        "tasksMetadata": [],
        "consumerGroupId": "",
        "state": None,
    }
    return found if query is None else found | _while_running(query, context)


def _while_running(query: PersistentQuery, context: Context) -> Json:
    runtime = context.runtime.queries.get(query.id)
    state = _state(query, runtime)
    host = "" if runtime is None else runtime.host
    errors = () if runtime is None else runtime.errors
    return {
        "ksqlHostQueryStatus": {host: state} if host else {},
        "queryErrors": [
            {"timestamp": one.timestamp_ms, "errorMessage": one.message, "type": one.type} for one in errors
        ],
        "consumerGroupId": context.application_id(query.id),
        "state": state,
    }


def _state(query: PersistentQuery, runtime: QueryRuntime | None) -> str:
    return query.state.value if runtime is None else runtime.state
