"""DescribeConfigs, IncrementalAlterConfigs, AlterConfigs, ListConfigResources.

The expectations were taken from the answers of Apache Kafka 4.2; where ours differ, the test says why.
"""

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from admin_rig import Rig, make_rig

from moldau.broker.handlers.configs import (
    alter_configs,
    describe_configs,
    incremental_alter_configs,
    list_config_resources,
)
from moldau.broker.handlers.topics import create_topics
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.configs import alter_configs as replacing
from moldau.protocol.messages.configs import incremental_alter_configs as incremental
from moldau.protocol.messages.configs.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from moldau.protocol.messages.configs.list_config_resources import ListConfigResourcesRequest
from moldau.protocol.messages.topics.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)

TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = 0, 1, 2, 3


def create(rig: Rig, name: str, **configs: str) -> None:
    topic = CreatableTopic(
        name=name,
        num_partitions=2,
        replication_factor=1,
        assignments=[],
        configs=[
            CreatableTopicConfig(name=key.replace("_", "."), value=value) for key, value in configs.items()
        ],
    )
    (result,) = rig.ask(create_topics.API, CreateTopicsRequest(topics=[topic])).topics
    assert result.error_code == 0, result.error_message


def describe_all(
    rig: Rig, kind: int, name: str, *, keys: list[str] | None = None, version: int | None = None
) -> Any:
    resource = DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=keys)
    request = DescribeConfigsRequest(
        resources=[resource], include_synonyms=True, include_documentation=version is None or version >= 3
    )
    (result,) = rig.ask(describe_configs.API, request, version).results
    return result


def describe(rig: Rig, kind: int, name: str, key: str) -> Any:
    result = describe_all(rig, kind, name, keys=[key])
    assert result.error_code == 0, result.error_message
    return result.configs[0] if result.configs else None


def value(rig: Rig, kind: int, name: str, key: str) -> tuple[str | None, int]:
    config = describe(rig, kind, name, key)
    return config.value, config.config_source


def synonyms(config: Any) -> list[tuple[str, str | None, int]]:
    return [(each.name, each.value, each.source) for each in config.synonyms]


def change(
    rig: Rig, kind: int, name: str, *changes: tuple[str, int, str | None], validate_only: bool = False
) -> tuple[ErrorCode, str]:
    resource = incremental.AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[
            incremental.AlterableConfig(name=key, config_operation=op, value=text)
            for key, op, text in changes
        ],
    )
    request = incremental.IncrementalAlterConfigsRequest(resources=[resource], validate_only=validate_only)
    (result,) = rig.ask(incremental_alter_configs.API, request).responses
    return ErrorCode(result.error_code), result.error_message or ""


def replace(
    rig: Rig, kind: int, name: str, *values: tuple[str, str | None], validate_only: bool = False
) -> tuple[ErrorCode, str]:
    resource = replacing.AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[replacing.AlterableConfig(name=key, value=text) for key, text in values],
    )
    request = replacing.AlterConfigsRequest(resources=[resource], validate_only=validate_only)
    (result,) = rig.ask(alter_configs.API, request).responses
    return ErrorCode(result.error_code), result.error_message or ""


def log_config(rig: Rig, topic: str) -> Any:
    partition = rig.broker.partitions.find(topic, 0)
    assert partition is not None and partition.log is not None
    return partition.log.config


OK = (ErrorCode.NONE, "")


# Describing


def test_a_topic_tells_every_key_with_source_type_and_documentation(rig: Rig) -> None:
    create(rig, "t", retention_ms="77")
    result = describe_all(rig, TOPIC, "t")
    assert len(result.configs) == 33
    configs = {config.name: config for config in result.configs}
    assert "internal.segment.bytes" not in configs
    retention = configs["retention.ms"]
    assert (retention.value, retention.config_source, retention.config_type) == ("77", 1, 5)
    assert not retention.read_only and not retention.is_sensitive
    assert retention.documentation
    assert synonyms(configs["cleanup.policy"]) == [("log.cleanup.policy", "delete", 5)]
    assert configs["min.cleanable.dirty.ratio"].config_type == 6


def test_older_versions_leave_out_what_they_cannot_say(rig: Rig) -> None:
    create(rig, "t")
    result = describe_all(rig, TOPIC, "t", keys=["retention.ms"], version=1)
    assert [config.name for config in result.configs] == ["retention.ms"]


def test_a_topic_key_names_the_broker_keys_behind_it(rig_with: Callable[[str], Rig]) -> None:
    """Kafka leaves `log.retention.hours` out while `log.retention.ms` is unset; ours tells where the value is from."""
    rig = rig_with("log.retention.hours=100\nlog.segment.bytes=104857600")
    create(rig, "t")
    assert value(rig, TOPIC, "t", "retention.ms") == ("360000000", 4)
    assert synonyms(describe(rig, TOPIC, "t", "segment.bytes")) == [
        ("log.segment.bytes", "104857600", 4),
        ("log.segment.bytes", "1073741824", 5),
    ]


def test_unknown_keys_are_left_out_and_no_keys_means_all(rig: Rig) -> None:
    create(rig, "t")
    assert describe(rig, TOPIC, "t", "nonsense") is None
    assert len(describe_all(rig, TOPIC, "t", keys=[]).configs) == 33


def test_a_broker_tells_what_is_fixed_and_hides_secrets(rig_with: Callable[[str], Rig]) -> None:
    rig = rig_with("node.id=1\nssl.key.password=hunter2\nlog.retention.hours=100")
    configs = {config.name: config for config in describe_all(rig, BROKER, "1").configs}
    assert configs["node.id"].read_only and configs["node.id"].config_source == 4
    assert configs["broker.id"].value == "1"
    assert not configs["log.retention.bytes"].read_only
    secret = configs["ssl.key.password"]
    assert (
        secret.is_sensitive and secret.value is None and synonyms(secret) == [("ssl.key.password", None, 4)]
    )
    assert synonyms(configs["log.retention.hours"]) == [
        ("log.retention.hours", "100", 4),
        ("log.retention.hours", "168", 5),
    ]
    assert configs["log.retention.ms"].value is None and synonyms(configs["log.retention.ms"]) == []


@pytest.mark.parametrize(
    ("kind", "name", "code", "text"),
    [
        (TOPIC, "nope", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ""),
        (TOPIC, "bad name", ErrorCode.INVALID_TOPIC_EXCEPTION, "Topic name is invalid"),
        (TOPIC, "", ErrorCode.INVALID_TOPIC_EXCEPTION, "empty string"),
        (BROKER, "2", ErrorCode.INVALID_REQUEST, "expected 1 or empty string, but received 2"),
        (BROKER, "x", ErrorCode.INVALID_REQUEST, "Broker id must be an integer, but it is: x"),
        (LOGGER, "2", ErrorCode.INVALID_REQUEST, "expected 1 but received 2"),
        (LOGGER, "", ErrorCode.INVALID_REQUEST, "must not be empty"),
        (CLIENT_METRICS, "", ErrorCode.INVALID_REQUEST, "must not be empty"),
        (GROUP, "", ErrorCode.INVALID_REQUEST, "must not be empty"),
        (99, "x", ErrorCode.INVALID_REQUEST, ""),
    ],
)
def test_what_does_not_exist_is_not_described(
    rig: Rig, kind: int, name: str, code: ErrorCode, text: str
) -> None:
    result = describe_all(rig, kind, name)
    assert ErrorCode(result.error_code) is code
    assert text in (result.error_message or "")
    assert result.configs == []


# Changing topics


def test_a_topic_is_changed_live_and_for_good(rig: Rig) -> None:
    create(rig, "t")
    assert change(rig, TOPIC, "t", ("retention.ms", SET, "5"), ("segment.bytes", SET, "2097152")) == OK
    assert value(rig, TOPIC, "t", "retention.ms") == ("5", 1)
    assert log_config(rig, "t").retention_ms == 5
    assert log_config(rig, "t").segment_bytes == 2_097_152
    again = make_rig(store=rig.store)
    assert value(again, TOPIC, "t", "retention.ms") == ("5", 1)

    assert change(rig, TOPIC, "t", ("retention.ms", DELETE, None), ("segment.bytes", DELETE, "ignored")) == OK
    assert value(rig, TOPIC, "t", "retention.ms") == ("604800000", 5)
    assert log_config(rig, "t").retention_ms == 604_800_000
    assert rig.store.children("/config/topics") == []


def test_lists_are_appended_to_and_subtracted_from(rig: Rig) -> None:
    create(rig, "t")
    key = "cleanup.policy"
    assert change(rig, TOPIC, "t", (key, APPEND, "compact")) == OK
    assert value(rig, TOPIC, "t", key) == ("delete,compact", 1)
    assert log_config(rig, "t").compact and log_config(rig, "t").delete
    assert change(rig, TOPIC, "t", (key, APPEND, "compact")) == OK
    assert value(rig, TOPIC, "t", key) == ("delete,compact", 1)
    assert change(rig, TOPIC, "t", (key, SUBTRACT, "delete")) == OK
    assert value(rig, TOPIC, "t", key) == ("compact", 1)
    assert change(rig, TOPIC, "t", (key, SUBTRACT, "nothing")) == OK
    assert change(rig, TOPIC, "t", (key, SUBTRACT, "compact")) == OK
    assert value(rig, TOPIC, "t", key) == ("", 1)


@pytest.mark.parametrize(
    ("name", "changes", "code", "text"),
    [
        ("t", [("retention.ms", SET, "abc")], ErrorCode.INVALID_CONFIG, "Invalid value abc"),
        (
            "t",
            [("retention.ms", SET, None)],
            ErrorCode.INVALID_REQUEST,
            "Null value not supported for : retention.ms",
        ),
        ("t", [("nonsense", SET, "1")], ErrorCode.INVALID_CONFIG, "Unknown topic config name: nonsense"),
        ("t", [("retention.ms", APPEND, "5")], ErrorCode.INVALID_CONFIG, "Can't APPEND to key retention.ms"),
        ("t", [("cleanup.policy", APPEND, "shred")], ErrorCode.INVALID_CONFIG, "cleanup.policy"),
        ("t", [("retention.ms", 9, "5")], ErrorCode.INVALID_REQUEST, "Unknown operation 9"),
        ("t", [("retention.ms", SET, "5")] * 2, ErrorCode.INVALID_REQUEST, "duplicate config keys"),
        ("t", [("flush.ms", SET, "5"), ("segment.ms", SET, "x")], ErrorCode.INVALID_CONFIG, "segment.ms"),
        (
            "nope",
            [("retention.ms", SET, "5")],
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            "The topic 'nope' does not exist",
        ),
        (
            "",
            [("retention.ms", SET, "5")],
            ErrorCode.INVALID_REQUEST,
            "Default topic resources are not allowed",
        ),
    ],
)
def test_a_refused_change_changes_nothing(
    rig: Rig, name: str, changes: list[tuple[str, int, str | None]], code: ErrorCode, text: str
) -> None:
    create(rig, "t", retention_ms="1")
    before = rig.broker.catalog.topics()
    refused = change(rig, TOPIC, name, *changes)
    assert refused[0] is code
    assert text in refused[1]
    assert rig.broker.catalog.topics() == before
    assert rig.store.children("/config/topics") == ["t"]


def test_deleting_an_unknown_key_is_fine(rig: Rig) -> None:
    create(rig, "t")
    assert change(rig, TOPIC, "t", ("nonsense", DELETE, None)) == OK
    assert change(rig, TOPIC, "t") == OK


def test_validate_only_changes_nothing(rig: Rig) -> None:
    create(rig, "t")
    assert change(rig, TOPIC, "t", ("retention.ms", SET, "9"), validate_only=True) == OK
    assert replace(rig, TOPIC, "t", ("retention.ms", "9"), validate_only=True) == OK
    assert value(rig, TOPIC, "t", "retention.ms") == ("604800000", 5)
    assert (
        change(rig, TOPIC, "t", ("retention.ms", SET, "x"), validate_only=True)[0] is ErrorCode.INVALID_CONFIG
    )


def test_replacing_resets_what_is_not_named(rig: Rig) -> None:
    create(rig, "t", retention_ms="5")
    assert replace(rig, TOPIC, "t", ("segment.ms", "7")) == OK
    assert value(rig, TOPIC, "t", "retention.ms") == ("604800000", 5)
    assert value(rig, TOPIC, "t", "segment.ms") == ("7", 1)
    assert replace(rig, TOPIC, "t") == OK
    assert value(rig, TOPIC, "t", "segment.ms") == ("604800000", 5)
    assert replace(rig, TOPIC, "t", ("segment.ms", None))[0] is ErrorCode.INVALID_REQUEST
    assert replace(rig, TOPIC, "t", ("segment.ms", "x"))[0] is ErrorCode.INVALID_CONFIG
    assert replace(rig, TOPIC, "nope", ("segment.ms", "7"))[0] is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert replace(rig, TOPIC, "t", ("segment.ms", "7"), ("segment.ms", "8"))[0] is ErrorCode.INVALID_REQUEST
    assert replace(rig, LOGGER, "1", ("root", "INFO"))[0] is ErrorCode.INVALID_REQUEST


def test_a_resource_named_twice_is_refused(rig: Rig) -> None:
    create(rig, "t")
    twice = [incremental.AlterConfigsResource(resource_type=TOPIC, resource_name="t", configs=[])] * 2
    request = incremental.IncrementalAlterConfigsRequest(resources=twice, validate_only=False)
    answer = rig.ask(incremental_alter_configs.API, request)
    assert {ErrorCode(each.error_code) for each in answer.responses} == {ErrorCode.INVALID_REQUEST}


# Changing brokers


def test_the_broker_changes_live_for_topics_that_do_not_say_otherwise(rig: Rig) -> None:
    create(rig, "own", retention_ms="1")
    create(rig, "common")
    assert change(rig, BROKER, "", ("log.retention.ms", SET, "6000")) == OK
    assert log_config(rig, "common").retention_ms == 6000
    assert change(rig, BROKER, "1", ("log.retention.ms", SET, "5000")) == OK
    assert log_config(rig, "common").retention_ms == 5000
    assert log_config(rig, "own").retention_ms == 1
    assert rig.broker.configs.broker.log_retention_ms == 5000
    assert value(rig, TOPIC, "common", "retention.ms") == ("5000", 2)
    assert synonyms(describe(rig, BROKER, "1", "log.retention.ms")) == [
        ("log.retention.ms", "5000", 2),
        ("log.retention.ms", "6000", 3),
        ("log.retention.hours", "168", 5),
    ]
    assert [(each.name, each.value) for each in describe_all(rig, BROKER, "").configs] == [
        ("log.retention.ms", "6000")
    ]
    again = make_rig(store=rig.store)
    assert again.broker.configs.broker.log_retention_ms == 5000
    assert change(rig, BROKER, "1", ("log.retention.ms", DELETE, None)) == OK
    assert log_config(rig, "common").retention_ms == 6000


@pytest.mark.parametrize(
    ("name", "key", "text", "complaint"),
    [
        ("1", "node.id", "5", "Cannot update these configs dynamically: node.id"),
        ("1", "num.partitions", "5", "Cannot update these configs dynamically: num.partitions"),
        ("", "ssl.keystore.type", "PEM", "using the listener prefix: ssl.keystore.type"),
        ("", "listener.name.x.ssl.keystore.type", "PEM", "broker id must be specified: listener.name.x.ssl"),
        ("1", "log.retention.ms", "abc", "Invalid value abc for configuration log.retention.ms"),
        ("1", "message.max.bytes", "-1", "Invalid value -1"),
        ("2", "log.retention.ms", "5", "Unexpected broker id, expected 1, but received 2"),
        ("x", "log.retention.ms", "5", "must be an integer, but it is: x"),
        ("1", "log.cleaner.threads", "1000", "log.cleaner.dedupe.buffer.size"),
    ],
)
def test_what_a_broker_cannot_change_is_refused(
    rig: Rig, name: str, key: str, text: str, complaint: str
) -> None:
    before = rig.broker.configs.broker
    code, message = change(rig, BROKER, name, (key, SET, text))
    assert code is ErrorCode.INVALID_REQUEST
    assert complaint in message
    assert rig.broker.configs.broker is before


def test_an_unknown_broker_key_is_refused(rig: Rig) -> None:
    """Kafka keeps it without a word; a mistyped key that silently does nothing helps nobody."""
    code, message = change(rig, BROKER, "1", ("log.retention.mss", SET, "5"))
    assert code is ErrorCode.INVALID_CONFIG
    assert "did you mean log.retention.ms?" in message


# Loggers, groups, client metrics


@pytest.fixture
def levels() -> Iterator[None]:
    logger = logging.getLogger("moldau.disks")
    before = logging.root.level, logger.level
    yield
    logging.root.setLevel(before[0])
    logger.setLevel(before[1])


@pytest.mark.usefixtures("levels")
def test_log_levels_change_while_the_broker_runs(rig: Rig) -> None:
    assert change(rig, LOGGER, "1", ("moldau.disks", SET, "DEBUG")) == OK
    assert logging.getLogger("moldau.disks").level == logging.DEBUG
    assert value(rig, LOGGER, "1", "moldau.disks") == ("DEBUG", 6)
    assert change(rig, LOGGER, "1", ("moldau.disks", SET, "error"), validate_only=True) == OK
    assert logging.getLogger("moldau.disks").level == logging.DEBUG
    assert change(rig, LOGGER, "1", ("moldau.disks", DELETE, None)) == OK
    assert logging.getLogger("moldau.disks").level == logging.NOTSET
    assert change(rig, LOGGER, "1", ("root", SET, "ERROR")) == OK
    assert value(rig, LOGGER, "1", "root") == ("ERROR", 6)


@pytest.mark.parametrize(
    ("name", "op", "level", "code", "text"),
    [
        ("moldau.nothing", SET, "INFO", ErrorCode.INVALID_CONFIG, "Logger moldau.nothing does not exist!"),
        ("root", SET, "LOUD", ErrorCode.INVALID_CONFIG, "not a supported log level"),
        ("root", DELETE, None, ErrorCode.INVALID_REQUEST, "Removing the log level of the root logger"),
        ("root", APPEND, "INFO", ErrorCode.INVALID_REQUEST, "APPEND operation is not allowed"),
    ],
)
def test_log_levels_that_make_no_sense_are_refused(
    rig: Rig, name: str, op: int, level: str | None, code: ErrorCode, text: str
) -> None:
    refused = change(rig, LOGGER, "1", (name, op, level))
    assert refused[0] is code
    assert text in refused[1]


def test_groups_and_client_metrics_keep_settings_of_their_own(rig: Rig) -> None:
    assert change(rig, GROUP, "a/b", ("consumer.session.timeout.ms", SET, "50000")) == OK
    assert value(rig, GROUP, "a/b", "consumer.session.timeout.ms") == ("50000", 8)
    assert value(rig, GROUP, "other", "consumer.session.timeout.ms") == ("45000", 5)
    assert (
        change(rig, CLIENT_METRICS, "m", ("interval.ms", SET, "1000"), ("match", SET, "client_id=x.*")) == OK
    )
    assert value(rig, CLIENT_METRICS, "m", "interval.ms") == ("1000", 7)
    again = make_rig(store=rig.store)
    assert value(again, GROUP, "a/b", "consumer.session.timeout.ms") == ("50000", 8)
    assert value(again, CLIENT_METRICS, "m", "match") == ("client_id=x.*", 7)


@pytest.mark.parametrize(
    ("kind", "name", "key", "text", "code", "complaint"),
    [
        (
            GROUP,
            "g",
            "consumer.session.timeout.ms",
            "1",
            ErrorCode.INVALID_CONFIG,
            "group.consumer.min.session.timeout.ms",
        ),
        (GROUP, "g", "nonsense", "1", ErrorCode.INVALID_CONFIG, "Unknown group config name: nonsense"),
        (
            GROUP,
            "",
            "consumer.session.timeout.ms",
            "50000",
            ErrorCode.INVALID_REQUEST,
            "Default group resources",
        ),
        (
            CLIENT_METRICS,
            "m",
            "match",
            "bad",
            ErrorCode.INVALID_CONFIG,
            "Illegal client matching pattern: bad",
        ),
        (
            CLIENT_METRICS,
            "m",
            "match",
            "client_id=[",
            ErrorCode.INVALID_CONFIG,
            "Illegal client matching pattern",
        ),
        (CLIENT_METRICS, "m", "interval.ms", "1", ErrorCode.INVALID_REQUEST, "between 100 and 3600000"),
        (CLIENT_METRICS, "m", "nonsense", "1", ErrorCode.INVALID_REQUEST, "nonsense"),
        (
            CLIENT_METRICS,
            "",
            "interval.ms",
            "1000",
            ErrorCode.INVALID_REQUEST,
            "Subscription name can't be empty",
        ),
        (99, "x", "a", "1", ErrorCode.INVALID_REQUEST, "Unknown resource type 99"),
    ],
)
def test_wrong_settings_of_the_small_resources_are_refused(
    rig: Rig, kind: int, name: str, key: str, text: str, code: ErrorCode, complaint: str
) -> None:
    refused = change(rig, kind, name, (key, SET, text))
    assert refused[0] is code
    assert complaint in refused[1]


def test_resources_are_listed_by_type(rig: Rig) -> None:
    create(rig, "t")
    change(rig, GROUP, "g", ("consumer.session.timeout.ms", SET, "50000"))
    change(rig, CLIENT_METRICS, "m", ("metrics", SET, "*"))

    def listed(*types: int, version: int = 1) -> list[tuple[int, str]]:
        answer = rig.ask(list_config_resources.API, ListConfigResourcesRequest(resource_types=types), version)
        assert answer.error_code == 0
        return [(each.resource_type, each.resource_name) for each in answer.config_resources]

    assert listed() == [(TOPIC, "t"), (BROKER, "1"), (LOGGER, "1"), (CLIENT_METRICS, "m"), (GROUP, "g")]
    assert listed(GROUP, TOPIC) == [(GROUP, "g"), (TOPIC, "t")]
    assert [name for _, name in listed(version=0)] == ["m"]
    answer = rig.ask(list_config_resources.API, ListConfigResourcesRequest(resource_types=[99]))
    assert ErrorCode(answer.error_code) is ErrorCode.UNSUPPORTED_VERSION
    change(rig, GROUP, "g", ("consumer.session.timeout.ms", DELETE, None))
    assert listed(GROUP) == []
