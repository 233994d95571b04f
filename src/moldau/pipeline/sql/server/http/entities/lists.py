"""Entities that are a list of names or a sentence: most of SHOW, DESCRIBE FUNCTION, ASSERT, the state of a command."""

from moldau.pipeline.sql.engine.answers import (
    Asserted,
    CurrentStatus,
    DescribeFunction,
    FunctionsList,
    FunctionVariation,
    PropertiesList,
    TopicsList,
    TypesList,
    VariablesList,
    Warned,
)
from moldau.pipeline.sql.server.http.entities.context import Context
from moldau.pipeline.sql.server.http.entities.schemas import Json, schema_object
from moldau.pipeline.sql.server.requests import CommandStatus, TopicConsumers


def current_status(answer: CurrentStatus, context: Context) -> Json:
    status = CommandStatus(answer.status, answer.message, answer.query_id)
    return {
        "@type": "currentStatus",
        "commandId": answer.command_id,
        "commandStatus": command_status(status),
        "commandSequenceNumber": context.command_sequence_number,
    }


def command_status(status: CommandStatus) -> Json:
    return {"status": status.status, "message": status.message, "queryId": status.query_id}


def warning(answer: Warned, context: Context) -> Json:
    return {"@type": "warning_entity", "message": answer.message}


def functions_list(answer: FunctionsList, context: Context) -> Json:
    functions = [{"name": one.name, "type": one.type, "category": one.category} for one in answer.functions]
    return {"@type": "function_names", "functions": functions}


def function_description(answer: DescribeFunction, context: Context) -> Json:
    return {
        "@type": "describe_function",
        "name": answer.name,
        "description": answer.doc,
        "author": answer.author,
        "version": "",
        "path": answer.path,
        "functions": [_variation(one) for one in answer.variations],
        "type": answer.type,
        "examples": list(answer.examples),
    }


def _variation(variation: FunctionVariation) -> Json:
    arguments = [
        {"name": one.name, "type": one.type, "description": one.doc, "isVariadic": one.is_variadic}
        for one in variation.arguments
    ]
    return {"arguments": arguments, "returnType": variation.returns, "description": variation.doc}


def types_list(answer: TypesList, context: Context) -> Json:
    return {
        "@type": "type_list",
        "types": {name: schema_object(kind) for name, kind in answer.types.items()},
    }


def properties_list(answer: PropertiesList, context: Context) -> Json:
    properties = [
        {
            "name": one.name,
            "scope": one.scope,
            "value": one.value,
            "editable": one.is_editable,
            "level": one.level,
        }
        for one in answer.properties
    ]
    return {
        "@type": "properties",
        "properties": properties,
        "overwrittenProperties": [one.name for one in answer.properties if one.is_overridden],
        "defaultProperties": [one.name for one in answer.properties if one.is_default],
    }


def variables_list(answer: VariablesList, context: Context) -> Json:
    variables = [{"name": name, "value": value} for name, value in sorted(answer.variables.items())]
    return {"@type": "variables", "variables": variables}


def topics_list(answer: TopicsList, context: Context) -> Json:
    topics: list[Json] = [
        {"name": one.name, "replicaInfo": [one.replicas] * one.partitions} for one in answer.topics
    ]
    if not answer.is_extended:
        return {"@type": "kafka_topics", "topics": topics}
    for topic in topics:
        consumers = context.runtime.topics.get(topic["name"], TopicConsumers())
        topic |= {"consumerCount": consumers.consumers, "consumerGroupCount": consumers.groups}
    return {"@type": "kafka_topics_extended", "topics": topics}


def assertion(answer: Asserted, context: Context) -> Json:
    if answer.what == "TOPIC":
        return {"@type": "assert_topic", "topicName": answer.topic, "exists": answer.exists}
    return {
        "@type": "assert_schema",
        "subject": answer.subject,
        "id": answer.schema_id,
        "exists": answer.exists,
    }
