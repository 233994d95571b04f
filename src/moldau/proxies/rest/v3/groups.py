"""Consumer groups, their members and assignments, and how far they lag behind."""

import asyncio
from typing import Any, Final

from confluent_kafka import ConsumerGroupState, ConsumerGroupTopicPartitions
from confluent_kafka.admin import OffsetSpec

from moldau.proxies.rest.failures import RestFailure
from moldau.proxies.rest.http.answers import Answer, json_answer
from moldau.proxies.rest.http.call import Call
from moldau.proxies.rest.http.routing import Route
from moldau.proxies.rest.v3.resources import Json, Links, links_of, missing

GROUPS: Final = "/v3/clusters/{cluster_id}/consumer-groups"
ONE: Final = f"{GROUPS}/{{consumer_group_id}}"
Partition = tuple[str, int]


async def list_groups(call: Call) -> Answer:
    links = await links_of(call)
    cluster = call.proxy.cluster
    found = await cluster.answered(
        lambda admin, timeout_s: admin.list_consumer_groups(request_timeout=timeout_s)
    )
    names = sorted(group.group_id for group in found.valid)
    described = await asyncio.gather(*(_described(call, name) for name in names), return_exceptions=True)
    groups = [each for each in described if not isinstance(each, BaseException)]
    return links.listed(
        "KafkaConsumerGroupList", ["consumer-groups"], [_group(links, each) for each in groups]
    )


async def show_group(call: Call) -> Answer:
    links = await links_of(call)
    return json_answer(_group(links, await _asked(call)))


async def list_consumers(call: Call) -> Answer:
    links = await links_of(call)
    group = await _asked(call)
    found = [_consumer(links, group.group_id, member) for member in group.members]
    return links.listed("KafkaConsumerList", ["consumer-groups", group.group_id, "consumers"], found)


async def show_consumer(call: Call) -> Answer:
    links = await links_of(call)
    group, member = await _member(call)
    return json_answer(_consumer(links, group.group_id, member))


async def list_assignments(call: Call) -> Answer:
    links = await links_of(call)
    group, member = await _member(call)
    found = [_assignment(links, group.group_id, member, each) for each in _assigned(member)]
    path = ["consumer-groups", group.group_id, "consumers", member.member_id, "assignments"]
    return links.listed("KafkaConsumerAssignmentList", path, found)


async def show_assignment(call: Call) -> Answer:
    links = await links_of(call)
    group, member = await _member(call)
    asked = (call.parameters["topic_name"], call.number("partition_id"))
    if asked not in _assigned(member):
        raise missing(f"an assignment of {asked[0]}-{asked[1]} to {member.member_id}")
    return json_answer(_assignment(links, group.group_id, member, asked))


async def list_lags(call: Call) -> Answer:
    links = await links_of(call)
    group = await _asked(call)
    found = await _lags(call, links, group)
    return links.listed("KafkaConsumerLagList", ["consumer-groups", group.group_id, "lags"], found)


async def show_lag(call: Call) -> Answer:
    links = await links_of(call)
    group = await _asked(call)
    topic, partition = call.parameters["topic_name"], call.number("partition_id")
    for lag in await _lags(call, links, group):
        if (lag["topic_name"], lag["partition_id"]) == (topic, partition):
            return json_answer(lag)
    raise missing(f"a committed offset of group {group.group_id} for {topic}-{partition}")


async def summarize_lag(call: Call) -> Answer:
    links = await links_of(call)
    group = await _asked(call)
    lags = await _lags(call, links, group)
    if not lags:
        raise missing(f"a committed offset of group {group.group_id}")
    worst = max(lags, key=lambda lag: lag["lag"])
    name = group.group_id
    return json_answer(
        links.resource(
            "KafkaConsumerGroupLagSummary",
            ["consumer-groups", name, "lag-summary"],
            f"/consumer-group={name}/lag-summary",
            consumer_group_id=name,
            max_lag_consumer_id=worst["consumer_id"],
            max_lag_instance_id=worst["instance_id"],
            max_lag_client_id=worst["client_id"],
            max_lag_topic_name=worst["topic_name"],
            max_lag_partition_id=worst["partition_id"],
            max_lag=worst["lag"],
            total_lag=sum(lag["lag"] for lag in lags),
            max_lag_consumer=links.related("consumer-groups", name, "consumers", worst["consumer_id"]),
            max_lag_partition=links.related(
                "topics", worst["topic_name"], "partitions", worst["partition_id"]
            ),
        )
    )


async def _asked(call: Call) -> Any:
    """Raises RestFailure 40405."""
    name = call.parameters["consumer_group_id"]
    group = await _described(call, name)
    if group.state in (ConsumerGroupState.DEAD, ConsumerGroupState.UNKNOWN):
        raise RestFailure(40405, f"Consumer group id not found. The cluster has no group {name!r}.")
    return group


async def _described(call: Call, name: str) -> Any:
    return await call.proxy.cluster.answered(
        lambda admin, timeout_s: admin.describe_consumer_groups([name], request_timeout=timeout_s)[name]
    )


async def _member(call: Call) -> tuple[Any, Any]:
    group = await _asked(call)
    asked = call.parameters["consumer_id"]
    for member in group.members:
        if member.member_id == asked:
            return group, member
    raise missing(f"consumer {asked} of group {group.group_id}")


async def _lags(call: Call, links: Links, group: Any) -> list[Json]:
    name = group.group_id
    cluster = call.proxy.cluster
    committed = await cluster.answered(
        lambda admin, timeout_s: admin.list_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(name)], request_timeout=timeout_s
        )[name]
    )
    offsets = {
        (each.topic, each.partition): each.offset
        for each in committed.topic_partitions or ()
        if each.error is None and each.offset >= 0
    }
    topics = (await cluster.metadata()).topics
    # Topics that were deleted meanwhile have an offset, and no end.
    offsets = {
        key: offset
        for key, offset in offsets.items()
        if key[0] in topics and key[1] in topics[key[0]].partitions
    }
    ends = await cluster.offsets(sorted(offsets), OffsetSpec.latest())
    members = {partition: member for member in group.members for partition in _assigned(member)}
    return [
        _lag(links, name, key, members.get(key), offset, ends[key]) for key, offset in sorted(offsets.items())
    ]


def _lag(links: Links, group: str, key: Partition, member: Any, current: int, end: int) -> Json:
    topic, partition = key
    return links.resource(
        "KafkaConsumerLag",
        ["consumer-groups", group, "lags", topic, "partitions", partition],
        f"/consumer-group={group}/lag={topic}/partition={partition}",
        consumer_group_id=group,
        topic_name=topic,
        partition_id=partition,
        current_offset=current,
        log_end_offset=end,
        lag=max(end - current, 0),
        consumer_id=member.member_id if member else "",
        instance_id=(member.group_instance_id or None) if member else None,
        client_id=member.client_id if member else "",
    )


def _group(links: Links, group: Any) -> Json:
    name = group.group_id
    path = ["consumer-groups", name]
    coordinator = group.coordinator.id if group.coordinator else -1
    return links.resource(
        "KafkaConsumerGroup",
        path,
        f"/consumer-group={name}",
        consumer_group_id=name,
        is_simple=bool(group.is_simple_consumer_group),
        partition_assignor=group.partition_assignor or "",
        state=group.state.name,
        type=getattr(getattr(group, "type", None), "name", "UNKNOWN"),
        is_mixed_consumer_group=False,
        coordinator=links.related("brokers", coordinator),
        consumers=links.related(*path, "consumers"),
        lag_summary=links.related(*path, "lag-summary"),
    )


def _consumer(links: Links, group: str, member: Any) -> Json:
    path = ["consumer-groups", group, "consumers", member.member_id]
    return links.resource(
        "KafkaConsumer",
        path,
        f"/consumer-group={group}/consumer={member.member_id}",
        consumer_group_id=group,
        consumer_id=member.member_id,
        instance_id=member.group_instance_id or None,
        client_id=member.client_id,
        assignments=links.related(*path, "assignments"),
    )


def _assignment(links: Links, group: str, member: Any, partition: Partition) -> Json:
    topic, number = partition
    base = ["consumer-groups", group]
    return links.resource(
        "KafkaConsumerAssignment",
        [*base, "consumers", member.member_id, "assignments", topic, "partitions", number],
        f"/consumer-group={group}/consumer={member.member_id}/assignment={topic}/partition={number}",
        consumer_group_id=group,
        consumer_id=member.member_id,
        topic_name=topic,
        partition_id=number,
        partition=links.related("topics", topic, "partitions", number),
        lag=links.related(*base, "lags", topic, "partitions", number),
    )


def _assigned(member: Any) -> list[Partition]:
    assignment = member.assignment
    return [(each.topic, each.partition) for each in (assignment.topic_partitions if assignment else ())]


CONSUMER: Final = f"{ONE}/consumers/{{consumer_id}}"
OF_PARTITION: Final = "{topic_name}/partitions/{partition_id}"
ROUTES: Final = [
    Route("GET", GROUPS, list_groups, "All consumer groups", answer="V3List"),
    Route("GET", ONE, show_group, "A consumer group", answer="V3Resource"),
    Route("GET", f"{ONE}/consumers", list_consumers, "The members of a group", answer="V3List"),
    Route("GET", CONSUMER, show_consumer, "A member of a group", answer="V3Resource"),
    Route("GET", f"{CONSUMER}/assignments", list_assignments, "What a member reads", answer="V3List"),
    Route(
        "GET",
        f"{CONSUMER}/assignments/{OF_PARTITION}",
        show_assignment,
        "A partition that a member reads",
        answer="V3Resource",
    ),
    Route("GET", f"{ONE}/lags", list_lags, "How far a group lags, by partition", answer="V3List"),
    Route(
        "GET",
        f"{ONE}/lags/{OF_PARTITION}",
        show_lag,
        "How far a group lags in a partition",
        answer="V3Resource",
    ),
    Route("GET", f"{ONE}/lag-summary", summarize_lag, "How far a group lags in all", answer="V3Resource"),
]
