"""The bodies of requests and answers, in JSON Schema."""

from typing import Any, Final

Schema = dict[str, Any]
INT_MAX: Final = (1 << 31) - 1
LONG_MAX: Final = (1 << 63) - 1
TOPIC: Final[Schema] = {"type": "string", "minLength": 1, "maxLength": 249, "pattern": "^[a-zA-Z0-9._-]+$"}
TEXT: Final[Schema] = {"type": "string"}
NAME: Final[Schema] = {"type": "string", "minLength": 1}
FLAG: Final[Schema] = {"type": "boolean"}
NUMBER: Final[Schema] = {"type": "integer", "minimum": 0, "maximum": INT_MAX}
OFFSET: Final[Schema] = {
    "anyOf": [
        {"type": "integer", "minimum": 0, "maximum": LONG_MAX},
        {"type": "string", "pattern": "^[0-9]{1,18}$"},
    ]
}
SHOWN_OFFSET: Final[Schema] = {"type": ["integer", "string"]}
ANY: Final[Schema] = {}


def obj(required: str = "", *, closed: bool = False, **properties: Any) -> Schema:
    """`required` are names with blanks between them."""
    found: Schema = {"type": "object", "properties": properties}
    if required:
        found["required"] = required.split()
    if closed:
        found["additionalProperties"] = False
    return found


def arr(items: Schema, **more: Any) -> Schema:
    return {"type": "array", "items": items, **more}


def either(schema: Schema) -> Schema:
    """The schema, or null."""
    return {"anyOf": [schema, {"type": "null"}]}


PATTERN: Final[Schema] = {"type": "string", "pattern": "^[ -~]{1,1000}$"}
PARTITION: Final = obj("topic partition", topic=TOPIC, partition=NUMBER)
RECORD: Final = obj(closed=True, key=ANY, value=ANY, partition=either(NUMBER))
RECORDS: Final = obj(
    "records",
    key_schema=either(TEXT),
    key_schema_id=either(NUMBER),
    value_schema=either(TEXT),
    value_schema_id=either(NUMBER),
    records=arr(RECORD, minItems=1),
)
PRODUCED: Final = obj(
    "offsets key_schema_id value_schema_id",
    offsets=arr(
        obj(
            "partition offset error_code error",
            partition={"type": ["integer", "null"]},
            offset={"type": ["integer", "string", "null"]},
            error_code={"type": ["integer", "null"]},
            error={"type": ["string", "null"]},
        )
    ),
    key_schema_id={"type": ["integer", "null"]},
    value_schema_id={"type": ["integer", "null"]},
)
REPLICAS: Final = obj(
    "partition leader replicas",
    partition=NUMBER,
    leader={"type": "integer"},
    replicas=arr(obj("broker leader in_sync", broker=NUMBER, leader=FLAG, in_sync=FLAG)),
)
CONSUMED: Final = obj(
    "topic key value partition offset", topic=TOPIC, key=ANY, value=ANY, partition=NUMBER, offset=SHOWN_OFFSET
)
DATA: Final = either(
    obj(
        closed=True,
        type=either({"enum": ["JSON", "BINARY", "STRING", "AVRO", "JSONSCHEMA", "PROTOBUF"]}),
        subject=either(NAME),
        subject_name_strategy=either({"enum": ["TOPIC_NAME", "RECORD_NAME", "TOPIC_RECORD_NAME"]}),
        schema_id=either(NUMBER),
        schema_version=either(NUMBER),
        schema=either(TEXT),
        data=ANY,
    )
)
V3_FIELDS: Final[dict[str, Any]] = {
    "partition_id": either(NUMBER),
    "headers": arr(obj("name", name=TEXT, value=either({"type": "string", "contentEncoding": "base64"}))),
    "key": DATA,
    "value": DATA,
    "timestamp": either({"type": "string", "format": "date-time"}),
}
WRITTEN: Final[dict[str, Any]] = {
    "error_code": {"type": "integer"},
    "message": TEXT,
    "cluster_id": TEXT,
    "topic_name": TEXT,
    "partition_id": NUMBER,
    "offset": NUMBER,
    "timestamp": TEXT,
    "key": {"type": "object"},
    "value": {"type": "object"},
}
RESOURCE: Final = obj(
    "kind metadata cluster_id",
    kind=TEXT,
    metadata=obj("self", self=TEXT, resource_name=TEXT),
    cluster_id=TEXT,
)
OPERATION: Final = {"enum": ["SET", "DELETE", "APPEND", "SUBTRACT", None]}
VALUE: Final = {"type": ["string", "number", "boolean", "null"]}
ACL: Final = obj(
    "resource_type resource_name pattern_type principal host operation permission",
    resource_type={"enum": ["TOPIC", "GROUP", "CLUSTER", "TRANSACTIONAL_ID"]},
    resource_name=NAME,
    pattern_type={"enum": ["LITERAL", "PREFIXED"]},
    principal={"type": "string", "pattern": "^User:.+$"},
    host=NAME,
    operation={"enum": ["ALL", "READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE", "CLUSTER_ACTION"]},
    permission={"enum": ["ALLOW", "DENY"]},
)
PLACE: Final[Schema] = {"anyOf": [OFFSET, {"enum": ["earliest", "latest"]}]}
SMALL: Final[Schema] = {
    "anyOf": [
        {"type": "integer", "minimum": -1, "maximum": 100_000_000},
        {"type": "string", "pattern": "^[0-9]{1,8}$"},
        {"type": "null"},
    ]
}
INSTANCE_NAME: Final[Schema] = {"type": "string", "pattern": "^[^/\\x00-\\x1f]{1,200}$"}
INSTANCE_SETTINGS: Final[dict[str, Any]] = {
    "auto.offset.reset": {"enum": ["earliest", "latest", "none", "smallest", "largest", None]},
    "auto.commit.enable": {"enum": ["true", "false", True, False, None]},
    "fetch.min.bytes": SMALL,
    "consumer.request.timeout.ms": SMALL,
}
SCHEMAS: Final[dict[str, Schema]] = {
    "Error": obj("error_code message", error_code={"type": "integer"}, message=TEXT),
    "Empty": obj(),
    "AnyObject": {"type": "object"},
    "Text": TEXT,
    "Page": TEXT,
    "Events": TEXT,
    "Health": obj("status cluster_id", status=TEXT, cluster_id=either(TEXT)),
    "Names": arr(TEXT),
    "V2Topic": obj(
        "name configs partitions", name=TEXT, configs={"type": "object"}, partitions=arr(REPLICAS)
    ),
    "V2Partitions": arr(REPLICAS),
    "V2Partition": REPLICAS,
    "V2Offsets": obj("beginning_offset end_offset", beginning_offset=SHOWN_OFFSET, end_offset=SHOWN_OFFSET),
    "V2Brokers": obj("brokers", brokers=arr(NUMBER)),
    "V2Records": RECORDS,
    "V2Produced": PRODUCED,
    "V2NewInstance": obj(
        closed=True,
        id=either(INSTANCE_NAME),
        name=either(INSTANCE_NAME),
        format={"enum": ["json", "binary", "avro", "jsonschema", "protobuf", None]},
        **INSTANCE_SETTINGS,
    ),
    "V2Instance": obj("instance_id base_uri", instance_id=TEXT, base_uri=TEXT),
    "V2Subscription": {
        "oneOf": [
            obj("topics", topics=arr(TOPIC, minItems=1)),
            obj("topic_pattern", topic_pattern=PATTERN),
        ]
    },
    "V2Topics": obj("topics", topics=arr(TEXT)),
    "V2PartitionList": obj("partitions", partitions=arr(PARTITION)),
    "V2OffsetList": obj(
        offsets=arr(
            obj(
                "topic partition offset",
                topic=TOPIC,
                partition=NUMBER,
                offset=OFFSET,
                metadata=either({"type": "string", "maxLength": 4096}),
            )
        ),
    ),
    "V2ConsumedList": arr(CONSUMED),
    "V2CommittedNow": arr(obj("topic partition")),
    "V2Committed": obj("offsets", offsets=arr(obj("topic partition offset metadata"))),
    "V3List": obj(
        "kind metadata data", kind=TEXT, metadata=obj("self", self=TEXT), data=arr({"type": "object"})
    ),
    "V3Resource": RESOURCE,
    "V3NewTopic": obj(
        "topic_name",
        topic_name=TOPIC,
        partitions_count=either({"type": "integer", "minimum": 1, "maximum": 100_000}),
        replication_factor=either({"type": "integer", "minimum": 1, "maximum": 1_000}),
        configs=either(arr(obj("name", name=NAME, value=VALUE))),
        validate_only=either(FLAG),
    ),
    "V3Partitions": obj(
        "partitions_count", partitions_count={"type": "integer", "minimum": 1, "maximum": 100_000}
    ),
    "V3Value": obj("value", value=VALUE),
    "V3Changes": obj(
        "data",
        data=arr(obj("name", name=NAME, value=VALUE, operation=OPERATION), minItems=1),
        validate_only=either(FLAG),
    ),
    "V3TopicsChanges": obj(
        "data",
        data=arr(
            obj(
                "topic_name configs",
                topic_name=TOPIC,
                configs=arr(obj("name", name=NAME, value=VALUE, operation=OPERATION), minItems=1),
            ),
            minItems=1,
        ),
        validate_only=either(FLAG),
    ),
    "V3Acl": ACL,
    "V3Acls": obj("data", data=arr(ACL, minItems=1, maxItems=1_000)),
    "V3AclsDeleted": obj("data", data=arr({"type": "object"})),
    "V3Record": obj(closed=True, **V3_FIELDS),
    "V3Written": obj("error_code", **WRITTEN),
    "V3Batch": obj(
        "entries",
        entries=arr(
            obj("id", closed=True, id={"type": "string", "minLength": 1, "maxLength": 80}, **V3_FIELDS),
            minItems=1,
            maxItems=1_000,
        ),
    ),
    "V3BatchWritten": obj(
        "successes failures", successes=arr({"type": "object"}), failures=arr({"type": "object"})
    ),
    "ManyRecords": obj(
        "topics",
        topics={
            "type": "object",
            "minProperties": 1,
            "propertyNames": TOPIC,
            "additionalProperties": RECORDS,
        },
    ),
    "ManyProduced": obj("topics", topics={"type": "object"}),
    "Poll": obj(
        "topics",
        topics={
            "type": "object",
            "minProperties": 1,
            "propertyNames": TOPIC,
            "additionalProperties": {
                "anyOf": [
                    {"enum": ["earliest", "latest"]},
                    {"type": "object", "minProperties": 1, "additionalProperties": PLACE},
                ]
            },
        },
        format={"enum": ["json", "binary", "avro", "jsonschema", "protobuf"]},
        timeout_ms=either({"type": "integer", "minimum": 0, "maximum": LONG_MAX}),
        max_records=either({"type": "integer", "minimum": 1, "maximum": LONG_MAX}),
        max_bytes=either({"type": "integer", "minimum": 1, "maximum": LONG_MAX}),
    ),
    "Polled": obj("records next", records=arr(CONSUMED), next={"type": "object"}),
}
