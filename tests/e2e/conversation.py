"""The requests tests make all the time, in one line each. Names topics by name: the versions that do."""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from e2e.wire import WireClient
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.configs.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from moldau.protocol.messages.configs.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from moldau.protocol.messages.log.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from moldau.protocol.messages.log.fetch import FetchPartition, FetchRequest, FetchTopic
from moldau.protocol.messages.log.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from moldau.protocol.messages.log.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from moldau.protocol.messages.topics.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from moldau.protocol.messages.topics.delete_topics import DeleteTopicsRequest, DeleteTopicState
from moldau.protocol.messages.topics.metadata import MetadataRequest, MetadataRequestTopic
from moldau.protocol.messages.transactions.init_producer_id import InitProducerIdRequest
from moldau.protocol.records.batch import iter_headers
from moldau.protocol.records.builder import build_batch
from moldau.protocol.records.record import Record, iter_records

PRODUCE_BY_NAME = 12
FETCH_BY_NAME = 12
EARLIEST = -2
LATEST = -1
TOPIC_RESOURCE = 2
BROKER_RESOURCE = 4
BATCH_BYTES_MAX = 1 << 30


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def batch_of(
    values: Sequence[bytes | None],
    *,
    key: bytes | None = None,
    timestamp_ms: int | None = None,
    **options: Any,
) -> bytearray:
    time_ms = now_ms() if timestamp_ms is None else timestamp_ms
    records = [Record(offset, time_ms, key, value) for offset, value in enumerate(values)]
    return build_batch(records, **options)


def create_topic(
    client: WireClient, name: str, partitions: int = 1, configs: Mapping[str, str] | None = None
) -> bytes:
    """The new topic's id."""
    topic = new_topic(name, partitions, configs)
    (created,) = client.call(CreateTopicsRequest(topics=[topic], timeout_ms=30_000)).topics
    assert created.error_code == 0, f"{name}: {ErrorCode(created.error_code).name} {created.error_message}"
    topic_id: bytes = created.topic_id
    return topic_id


def new_topic(name: str, partitions: int = 1, configs: Mapping[str, str] | None = None) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=1,
        assignments=[],
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in (configs or {}).items()],
    )


def delete_topic(client: WireClient, name: str) -> None:
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name=name)], timeout_ms=30_000)
    (deleted,) = client.call(request).responses
    assert deleted.error_code == 0, ErrorCode(deleted.error_code).name


def metadata(
    client: WireClient, names: Iterable[str] | None, *, may_create: bool = False, version: int | None = None
) -> Any:
    topics = None if names is None else [MetadataRequestTopic(name=name) for name in names]
    return client.call(MetadataRequest(topics=topics, allow_auto_topic_creation=may_create), version)


def topic_id_of(client: WireClient, name: str) -> bytes:
    (topic,) = metadata(client, [name]).topics
    assert topic.error_code == 0, ErrorCode(topic.error_code).name
    topic_id: bytes = topic.topic_id
    return topic_id


def produce_request(topic: str, batches: Mapping[int, Any], *, acks: int = -1) -> ProduceRequest:
    data = [PartitionProduceData(index=index, records=batch) for index, batch in batches.items()]
    return ProduceRequest(
        acks=acks, timeout_ms=10_000, topic_data=[TopicProduceData(name=topic, partition_data=data)]
    )


def produce(client: WireClient, topic: str, batch: Any, partition: int = 0) -> Any:
    """The partition's answer, which may carry an error."""
    answer = client.call(produce_request(topic, {partition: batch}), PRODUCE_BY_NAME)
    return answer.responses[0].partition_responses[0]


def produce_values(
    client: WireClient, topic: str, values: Sequence[bytes | None], partition: int = 0, **options: Any
) -> int:
    """The offset of the first; fails if the broker refuses."""
    answer = produce(client, topic, batch_of(values, **options), partition)
    assert answer.error_code == 0, f"{ErrorCode(answer.error_code).name} {answer.error_message}"
    offset: int = answer.base_offset
    return offset


def fetch_request(
    topic: str,
    offsets: Mapping[int, int],
    *,
    wait_ms: int = 0,
    bytes_min: int = 1,
    bytes_max: int = 50 << 20,
    topic_id: bytes | None = None,
) -> FetchRequest:
    partitions = [
        FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=bytes_max)
        for index, offset in offsets.items()
    ]
    named = (
        FetchTopic(topic=topic, partitions=partitions)
        if topic_id is None
        else FetchTopic(topic_id=topic_id, partitions=partitions)  # type: ignore[arg-type]
    )
    return FetchRequest(max_wait_ms=wait_ms, min_bytes=bytes_min, max_bytes=bytes_max, topics=[named])


def fetch(client: WireClient, topic: str, offset: int, partition: int = 0, **options: Any) -> Any:
    """The partition's answer, which may carry an error."""
    version = FETCH_BY_NAME if options.get("topic_id") is None else None
    answer = client.call(fetch_request(topic, {partition: offset}, **options), version)
    assert answer.error_code == 0, ErrorCode(answer.error_code).name
    return answer.responses[0].partitions[0]


def read_all(client: WireClient, topic: str, partition: int = 0, start: int | None = None) -> list[Record]:
    """Every record from `start`, or from the log's start, to where the log now ends."""
    offset = list_offset(client, topic, EARLIEST, partition) if start is None else start
    end = list_offset(client, topic, LATEST, partition)
    records: list[Record] = []
    while offset < end:
        answer = fetch(client, topic, offset, partition)
        assert answer.error_code == 0, ErrorCode(answer.error_code).name
        data = memoryview(answer.records)
        for position, header in iter_headers(data):
            batch = data[position : position + header.size]
            found = iter_records(batch, decompressed_bytes_max=BATCH_BYTES_MAX)
            records += [record for record in found if record.offset >= offset]
            offset = header.next_offset
    return records


def values_of(client: WireClient, topic: str, partition: int = 0) -> list[bytes | None]:
    return [record.value for record in read_all(client, topic, partition)]


def list_offset(client: WireClient, topic: str, timestamp: int, partition: int = 0) -> int:
    wanted = ListOffsetsPartition(partition_index=partition, timestamp=timestamp)
    request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=topic, partitions=[wanted])])
    answer = client.call(request).topics[0].partitions[0]
    assert answer.error_code == 0, ErrorCode(answer.error_code).name
    offset: int = answer.offset
    return offset


def delete_records(client: WireClient, topic: str, before: int, partition: int = 0) -> Any:
    """The partition's answer, which may carry an error."""
    wanted = DeleteRecordsPartition(partition_index=partition, offset=before)
    topics = [DeleteRecordsTopic(name=topic, partitions=[wanted])]
    return client.call(DeleteRecordsRequest(topics=topics, timeout_ms=10_000)).topics[0].partitions[0]


def set_config(client: WireClient, resource_type: int, name: str, **values: str) -> None:
    """Keys are written with underscores."""
    configs = [
        AlterableConfig(name=key.replace("_", "."), config_operation=0, value=value)
        for key, value in values.items()
    ]
    resource = AlterConfigsResource(resource_type=resource_type, resource_name=name, configs=configs)
    request = IncrementalAlterConfigsRequest(resources=[resource], validate_only=False)
    (answer,) = client.call(request).responses
    assert answer.error_code == 0, f"{ErrorCode(answer.error_code).name} {answer.error_message}"


def topic_configs(client: WireClient, topic: str) -> dict[str, str | None]:
    resource = DescribeConfigsResource(
        resource_type=TOPIC_RESOURCE, resource_name=topic, configuration_keys=None
    )
    (answer,) = client.call(DescribeConfigsRequest(resources=[resource])).results
    assert answer.error_code == 0, ErrorCode(answer.error_code).name
    return {config.name: config.value for config in answer.configs}


def new_producer_id(client: WireClient) -> int:
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)
    answer = client.call(request)
    assert answer.error_code == 0, ErrorCode(answer.error_code).name
    producer_id: int = answer.producer_id
    return producer_id
