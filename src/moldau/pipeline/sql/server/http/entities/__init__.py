"""What statements answer as ksqlDB's entities: JSON objects whose `@type` says which one it is. Pure.

`schemas` has types and columns; the other modules each have the entities of one kind.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from moldau.pipeline.sql.engine import answers
from moldau.pipeline.sql.server.http.entities import connectors, lists, queries, sources
from moldau.pipeline.sql.server.http.entities.context import Context
from moldau.pipeline.sql.server.http.entities.lists import command_status
from moldau.pipeline.sql.server.http.entities.schemas import Json
from moldau.pipeline.sql.server.requests import ConnectAnswer, Executed

__all__ = ["Context", "Json", "command_status", "entity"]

RENDERERS: Final[Mapping[type, Callable[[Any, Context], Json]]] = {
    answers.CurrentStatus: lists.current_status,
    answers.Warned: lists.warning,
    answers.SourcesList: sources.sources_list,
    answers.SourceDescription: sources.source_description,
    answers.SourceDescriptions: sources.source_descriptions,
    answers.QueriesList: queries.queries_list,
    answers.Explanation: queries.explanation,
    answers.FunctionsList: lists.functions_list,
    answers.DescribeFunction: lists.function_description,
    answers.TypesList: lists.types_list,
    answers.PropertiesList: lists.properties_list,
    answers.VariablesList: lists.variables_list,
    answers.TopicsList: lists.topics_list,
    answers.Asserted: lists.assertion,
    ConnectAnswer: connectors.connect_entity,
}


def entity(executed: Executed, context: Context) -> Json | None:
    """None where a statement has no answer, as INSERT VALUES."""
    if executed.answer is None:
        return None
    number = executed.command_sequence_number
    own = replace(context, runtime=executed.runtime, command_sequence_number=-1 if number is None else number)
    found = RENDERERS[type(executed.answer)](executed.answer, own)
    warnings = [{"message": message} for message in executed.warnings]
    return {
        "@type": found["@type"],
        "statementText": executed.statement,
        **found,
        "warnings": warnings,
    }
