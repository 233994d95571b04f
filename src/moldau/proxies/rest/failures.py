"""The proxy's errors, with the codes and messages that clients of Confluent's REST Proxy know.

One exception carries them from the owner of some state to the HTTP answer. Messages go on where Confluent's end: what
happened to which thing, and what to do.
"""

import re
from typing import Final

from confluent_kafka import KafkaError, KafkaException

from moldau.core.errors import MoldauError

AUTHENTICATION: Final = 40101
AUTHORIZATION: Final = 40301
TOPIC_NOT_FOUND: Final = 40401
PARTITION_NOT_FOUND: Final = 40402
KAFKA_ERROR: Final = 50002
KAFKA_RETRIABLE: Final = 50003
TOPIC_NAME: Final = re.compile(r"[a-zA-Z0-9._-]{1,249}")
UNREACHABLE: Final = frozenset(
    {
        KafkaError._TRANSPORT,
        KafkaError._ALL_BROKERS_DOWN,
        KafkaError._TIMED_OUT,
        KafkaError._MSG_TIMED_OUT,
        KafkaError._RESOLVE,
    }
)
UNKNOWN_TOPIC: Final = frozenset({KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC})
AUTHENTICATION_FAILED: Final = frozenset({KafkaError._AUTHENTICATION, KafkaError.SASL_AUTHENTICATION_FAILED})
AUTHORIZATION_FAILED: Final = frozenset(
    {
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    }
)
INVALID_REQUESTS: Final = {
    KafkaError.TOPIC_ALREADY_EXISTS: 400,
    KafkaError.INVALID_PARTITIONS: 400,
    KafkaError.INVALID_REPLICATION_FACTOR: 400,
    KafkaError.INVALID_REPLICA_ASSIGNMENT: 400,
    KafkaError.INVALID_CONFIG: 400,
    KafkaError.INVALID_REQUEST: 400,
    KafkaError.TOPIC_EXCEPTION: 400,
    KafkaError.POLICY_VIOLATION: 400,
    KafkaError.INVALID_GROUP_ID: 400,
    KafkaError.GROUP_ID_NOT_FOUND: 40405,
    KafkaError.INVALID_PRINCIPAL_TYPE: 400,
    KafkaError.UNSUPPORTED_VERSION: 400,
    KafkaError.SECURITY_DISABLED: 400,
    KafkaError._AUTO_OFFSET_RESET: 40903,
    KafkaError._STATE: 40903,
    KafkaError.UNKNOWN_MEMBER_ID: 40903,
    KafkaError.ILLEGAL_GENERATION: 40903,
    KafkaError.REBALANCE_IN_PROGRESS: 40903,
    KafkaError.OFFSET_METADATA_TOO_LARGE: 400,
    KafkaError.INVALID_TIMESTAMP: 400,
    KafkaError.INVALID_RECORD: 400,
    KafkaError.MSG_SIZE_TOO_LARGE: 413,
    KafkaError.RECORD_LIST_TOO_LARGE: 413,
    KafkaError._INVALID_ARG: 400,
    KafkaError._UNSUPPORTED_FEATURE: 400,
}
"""What Kafka refuses because the request is wrong, and the HTTP status of that."""


class RestFailure(MoldauError):
    """`code` begins with the HTTP status: 40401 is answered with 404."""

    def __init__(self, code: int, message: str, *, allowed: str | None = None) -> None:
        """`allowed` are the methods that the path takes, of a 405."""
        super().__init__(message)
        self.code = code
        self.message = message
        self.allowed = allowed

    @property
    def status(self) -> int:
        return int(str(self.code)[:3])


def check_topic_name(topic: str) -> None:
    """Raises RestFailure 40401: no cluster has such a topic, and Kafka's client must not see it."""
    if not TOPIC_NAME.fullmatch(topic):
        raise RestFailure(
            TOPIC_NOT_FOUND,
            f"Topic not found. {topic[:60]!r} is no name of a topic: it has 1 to 249 letters, digits, dots, hyphens and"
            " underscores.",
        )


def topic_not_found(topic: str) -> RestFailure:
    return RestFailure(TOPIC_NOT_FOUND, f"Topic not found. The cluster has no topic {topic!r}.")


def partition_not_found(topic: str, partition: int) -> RestFailure:
    return RestFailure(
        PARTITION_NOT_FOUND, f"Partition not found. Topic {topic!r} has no partition {partition}."
    )


def instance_not_found(group: str, instance: str) -> RestFailure:
    return RestFailure(
        40403,
        f"Consumer instance not found. This proxy has no instance {instance!r} of group {group!r}: it was deleted, was "
        "idle for longer than consumer.instance.timeout.ms, or lives in another proxy. Create it with POST "
        f"/consumers/{group}, and use the base_uri of the answer.",
    )


def instance_exists(group: str, instance: str) -> RestFailure:
    return RestFailure(
        40902,
        "Consumer with specified consumer ID already exists in the specified consumer group. Delete instance "
        f"{instance!r} of group {group!r}, or choose another name.",
    )


def already_subscribed(detail: str) -> RestFailure:
    return RestFailure(
        40901,
        "Consumer cannot subscribe the the specified target because it has already subscribed to other topics. "
        + detail,
    )


def illegal_state(detail: str) -> RestFailure:
    return RestFailure(40903, f"Illegal state: {detail}")


def format_mismatch(instance_format: str, asked: str) -> RestFailure:
    return RestFailure(
        40601,
        "The requested embedded data format does not match the deserializer for this consumer instance: it was "
        f"created with format {instance_format}, and Accept asks for {asked}. Send Accept: "
        f"application/vnd.kafka.{instance_format}.v2+json, or create an instance with another format.",
    )


def schema_missing(field: str) -> RestFailure:
    code, things = (42201, "keys") if field == "key" else (42202, "values")
    return RestFailure(
        code,
        f"Request includes {things} but does not include {field} schema. Add {field}_schema, with the schema as text, "
        f"or {field}_schema_id.",
    )


def conversion_failed(detail: str) -> RestFailure:
    return RestFailure(42203, f"Conversion of JSON to Object failed: {detail}")


def invalid_consumer(detail: str) -> RestFailure:
    return RestFailure(42204, f"Invalid consumer configuration: {detail}")


def invalid_schema(detail: str) -> RestFailure:
    return RestFailure(42205, f"Invalid schema: {detail}")


def registry_failed(detail: str) -> RestFailure:
    return RestFailure(40801, f"Schema registration or lookup failed: {detail}")


def bad_request(detail: str) -> RestFailure:
    return RestFailure(400, f"Bad Request: {detail}")


def unprocessable(detail: str) -> RestFailure:
    return RestFailure(422, detail)


def not_found(detail: str) -> RestFailure:
    return RestFailure(404, f"HTTP 404 Not Found: {detail}")


def too_many(detail: str) -> RestFailure:
    return RestFailure(429, f"Too Many Requests: {detail}")


def of_kafka(error: Exception | KafkaError) -> RestFailure:
    """What a failure of Kafka's client means to a client of ours."""
    found = error.args[0] if isinstance(error, KafkaException) else error
    if not isinstance(found, KafkaError):
        return RestFailure(KAFKA_ERROR, f"Kafka error: {error}")
    return RestFailure(code_of(found), words_of(found))


def code_of(error: KafkaError) -> int:
    """Confluent's code for an error of Kafka."""
    number = error.code()
    if number in UNKNOWN_TOPIC:
        return TOPIC_NOT_FOUND
    if number == KafkaError._UNKNOWN_PARTITION:
        return PARTITION_NOT_FOUND
    if number in AUTHENTICATION_FAILED:
        return AUTHENTICATION
    if number in AUTHORIZATION_FAILED:
        return AUTHORIZATION
    if number in INVALID_REQUESTS:
        return INVALID_REQUESTS[number]
    return KAFKA_RETRIABLE if error.retriable() or number in UNREACHABLE else KAFKA_ERROR


def words_of(error: KafkaError) -> str:
    """Kafka's words, and what to do where that is known."""
    number = error.code()
    text = f"Kafka error: {error.str() or error.name()} ({error.name().lstrip('_')})."
    if number in UNREACHABLE:
        return (
            f"{text} The proxy does not reach the Kafka cluster; check that it runs, and bootstrap.servers."
        )
    if number == KafkaError.SECURITY_DISABLED:
        return f"{text} The cluster has no authorizer, so it keeps no access rules."
    return text
