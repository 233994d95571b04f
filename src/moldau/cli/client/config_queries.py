"""Settings of topics, brokers, groups and client metrics, requested with Kafka's protocol.

The client library supports neither cluster-wide broker settings nor client metrics.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from confluent_kafka import KafkaError

from moldau.cli.client.connection import Cluster
from moldau.cli.client.wire import Address
from moldau.cli.failures import Failure, refused, similar_names
from moldau.protocol.messages.configs.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
)
from moldau.protocol.messages.configs.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from moldau.protocol.messages.configs.list_config_resources import (
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)

TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
"""Kafka's numbers of resource types."""
ALL_BROKERS = "broker-defaults"
KINDS = {
    "topic": TOPIC,
    "broker": BROKER,
    ALL_BROKERS: BROKER,
    "group": GROUP,
    "client-metrics": CLIENT_METRICS,
    "broker-logger": BROKER_LOGGER,
}
SOURCES = {
    1: "topic",
    2: "broker, dynamic",
    3: "all brokers, dynamic",
    4: "broker's file",
    5: "default",
    6: "broker's logger",
    7: "client metrics",
    8: "group",
}
DEFAULT_SOURCE = 5
TYPES = dict(
    enumerate(["boolean", "string", "int", "short", "long", "double", "list", "class", "password"], 1)
)


class Operation(IntEnum):
    """KIP-339."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class Resource(NamedTuple):
    kind: str
    name: str

    def __str__(self) -> str:
        return "all brokers" if self.kind == ALL_BROKERS else f"{self.kind.replace('-', ' ')} '{self.name}'"


class Alteration(NamedTuple):
    key: str
    operation: Operation
    value: str | None = None


@dataclass(frozen=True)
class Setting:
    name: str
    value: str | None
    source: str
    is_default: bool
    type: str | None
    read_only: bool
    sensitive: bool
    synonyms: Sequence[tuple[str, str | None, str]]
    """All sources of the value in order of precedence: key, value, source."""
    documentation: str | None

    @classmethod
    def from_wire(cls, found: DescribeConfigsResourceResult) -> "Setting":
        return cls(
            found.name,
            found.value,
            SOURCES.get(found.config_source, "unknown"),
            found.config_source == DEFAULT_SOURCE,
            TYPES.get(found.config_type),
            found.read_only,
            found.is_sensitive,
            [(each.name, each.value, SOURCES.get(each.source, "unknown")) for each in found.synonyms],
            found.documentation or None,
        )

    @property
    def text(self) -> str:
        return "(hidden)" if self.sensitive else "(none)" if self.value is None else self.value


def resource_names(cluster: Cluster, kind: str) -> Sequence[str]:
    """The resources of a kind that have settings (KIP-1142)."""
    doing = f"list the resources of kind {kind}"
    if kind in ("broker", "broker-logger"):
        return [str(broker_id) for broker_id in sorted(cluster.wire.brokers)]
    if kind == "topic":
        return list(cluster.topic_names())
    request = ListConfigResourcesRequest(resource_types=[KINDS[kind]])
    answer = cluster.wire.ask(
        cluster.wire.any_broker(), request, ListConfigResourcesResponse, doing, version_min=1
    )
    if answer.error_code:
        raise refused(KafkaError(answer.error_code), doing)
    return sorted(found.resource_name for found in answer.config_resources)


def describe(cluster: Cluster, resources: Iterable[Resource]) -> dict[Resource, Sequence[Setting]]:
    """Sends one request per broker involved."""
    resources = list(resources)
    by_broker: dict[Address, list[Resource]] = defaultdict(list)
    for resource in resources:
        by_broker[_broker_for(cluster, resource)].append(resource)
    found: dict[Resource, Sequence[Setting]] = {}
    for address, asked in by_broker.items():
        wanted = [
            DescribeConfigsResource(resource_type=KINDS[kind], resource_name=name, configuration_keys=None)
            for kind, name in asked
        ]
        request = DescribeConfigsRequest(resources=wanted, include_synonyms=True, include_documentation=True)
        answer = cluster.wire.ask(address, request, DescribeConfigsResponse, "describe settings")
        results = {(result.resource_type, result.resource_name): result for result in answer.results}
        for resource in asked:
            result = results[KINDS[resource.kind], resource.name]
            if result.error_code:
                doing = f"describe the settings of {resource}"
                raise _failure(cluster, resource, result.error_code, result.error_message, doing)
            found[resource] = sorted(map(Setting.from_wire, result.configs), key=lambda setting: setting.name)
    return {resource: found[resource] for resource in resources}


def alter(cluster: Cluster, resource: Resource, changes: Iterable[Alteration], dry_run: bool) -> None:
    doing = f"change the settings of {resource}"
    changes = list(changes)
    wanted = AlterConfigsResource(
        resource_type=KINDS[resource.kind],
        resource_name=resource.name,
        configs=[
            AlterableConfig(name=key, config_operation=operation, value=value)
            for key, operation, value in changes
        ],
    )
    request = IncrementalAlterConfigsRequest(resources=[wanted], validate_only=dry_run)
    answer = cluster.wire.ask(_broker_for(cluster, resource), request, IncrementalAlterConfigsResponse, doing)
    [result] = answer.responses
    if result.error_code:
        failure = _failure(cluster, resource, result.error_code, result.error_message, doing)
        raise _with_nearest_names(cluster, resource, failure, [change.key for change in changes])


def _broker_for(cluster: Cluster, resource: Resource) -> Address:
    """Settings of a broker must be requested from that broker, all others from any."""
    if resource.kind not in ("broker", "broker-logger"):
        return cluster.wire.any_broker()
    brokers = cluster.wire.brokers
    if not resource.name.isdecimal() or int(resource.name) not in brokers:
        known = ", ".join(str(broker_id) for broker_id in sorted(brokers))
        raise Failure(
            f"there is no broker '{resource.name}' at {cluster.bootstrap_servers}.",
            f"Its brokers are {known}.",
        )
    return brokers[int(resource.name)]


def _failure(cluster: Cluster, resource: Resource, code: int, message: str | None, doing: str) -> Failure:
    if code == KafkaError.UNKNOWN_TOPIC_OR_PART:
        return cluster.unknown_topic(resource.name)
    return refused(KafkaError(code, message) if message else KafkaError(code), doing)


def _with_nearest_names(
    cluster: Cluster, resource: Resource, failure: Failure, keys: Sequence[str]
) -> Failure:
    """Suggests existing keys in place of an unknown one."""
    if failure.code not in (KafkaError.INVALID_CONFIG, KafkaError.INVALID_REQUEST) or "?" in failure.message:
        return failure
    known = [setting.name for setting in describe(cluster, [resource])[resource]]
    similar = [name for key in keys if key not in known for name in similar_names(key, known)]
    if similar:
        names = " or ".join(f"'{name}'" for name in similar)
        return Failure(failure.message, f"Did you mean {names}? Nothing was changed.", failure.code)
    return failure
