"""The size of each partition on its leader's disk. Partitions whose size is not available are left out."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from moldau.cli.client.wire import Address, Wire
from moldau.cli.failures import Failure
from moldau.core.ids import TopicPartition
from moldau.protocol.messages.log.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)


def partition_sizes(wire: Wire, leaders: Mapping[TopicPartition, Address]) -> dict[TopicPartition, int]:
    """Sends one request per leader."""
    led_by: dict[Address, list[TopicPartition]] = defaultdict(list)
    for place, address in leaders.items():
        led_by[address].append(place)
    sizes: dict[TopicPartition, int] = {}
    for address, places in led_by.items():
        try:
            answer = wire.ask(address, _request(places), DescribeLogDirsResponse, "get the size of logs")
        except Failure:
            continue
        for directory in answer.results:
            for topic in directory.topics:
                for part in topic.partitions:
                    if not part.is_future_key:
                        sizes[TopicPartition(topic.name, part.partition_index)] = part.partition_size
    return sizes


def _request(places: Iterable[TopicPartition]) -> DescribeLogDirsRequest:
    wanted: dict[str, list[int]] = defaultdict(list)
    for topic, partition in places:
        wanted[topic].append(partition)
    return DescribeLogDirsRequest(
        topics=[
            DescribableLogDirTopic(topic=topic, partitions=partitions) for topic, partitions in wanted.items()
        ]
    )
