"""`streams`, `tables`, `sourceDescription` and `source_descriptions`."""

from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.engine.answers import SourceDescription, SourceDescriptions, SourcesList
from moldau.pipeline.sql.server.http.entities.context import Context
from moldau.pipeline.sql.server.http.entities.queries import running_query
from moldau.pipeline.sql.server.http.entities.schemas import Json, source_fields
from moldau.pipeline.sql.server.requests import QueryOffsets, SourceStatistics, TopicOffsets


def sources_list(answer: SourcesList, context: Context) -> Json:
    kind = answer.what.lower()
    return {"@type": kind, kind: [_listed(source) for source in answer.sources]}


def _listed(source: SourceInfo) -> Json:
    return {
        "type": source.kind.value,
        "name": source.name,
        "topic": source.topic,
        "keyFormat": source.key_format.name,
        "valueFormat": source.value_format.name,
        "isWindowed": source.window is not None,
    }


def source_description(answer: SourceDescription, context: Context) -> Json:
    return {"@type": "sourceDescription", "sourceDescription": described(answer, context)}


def source_descriptions(answer: SourceDescriptions, context: Context) -> Json:
    found = [described(one, context) for one in answer.descriptions]
    return {"@type": "source_descriptions", "sourceDescriptions": found}


def described(answer: SourceDescription, context: Context) -> Json:
    source = answer.source
    told = context.runtime.sources.get(source.name, SourceStatistics())
    return {
        "name": source.name,
        "windowType": answer.window_type,
        "readQueries": [running_query(one, context) for one in answer.read_queries],
        "writeQueries": [running_query(one, context) for one in answer.write_queries],
        "fields": source_fields(source),
        "type": source.kind.value,
        "timestamp": source.timestamp_column or "",
        "statistics": told.statistics if answer.is_extended else "",
        "errorStats": told.error_stats if answer.is_extended else "",
        "extended": answer.is_extended,
        "keyFormat": source.key_format.name,
        "valueFormat": source.value_format.name,
        "topic": source.topic,
        "partitions": answer.partitions,
        "replication": answer.replicas,
        "statement": answer.statement,
        "queryOffsetSummaries": [_offsets(one) for one in told.offsets],
        "sourceConstraints": list(answer.constraints),
        "clusterStatistics": [],
        "clusterErrorStats": [],
    }


def _offsets(of: QueryOffsets) -> Json:
    return {"groupId": of.group_id, "topicSummaries": [_topic_offsets(one) for one in of.topics]}


def _topic_offsets(of: TopicOffsets) -> Json:
    partitions = [
        {
            "partition": one.partition,
            "logStartOffset": one.start,
            "logEndOffset": one.end,
            "consumerOffset": one.committed,
        }
        for one in of.partitions
    ]
    return {"kafkaTopic": of.topic, "offsets": partitions}
