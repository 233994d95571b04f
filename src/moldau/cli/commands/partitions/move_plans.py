"""Reassignment plans in the JSON of kafka-reassign-partitions: read, write, propose."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from moldau.cli import kafka_json
from moldau.cli.client.cluster_queries import Picture
from moldau.cli.failures import Failure
from moldau.core.ids import TopicPartition
from moldau.core.placement import place_replicas

Plan = Mapping[TopicPartition, Sequence[int]]


def plan_text(plan: Plan) -> str:
    return json.dumps(
        {
            "version": 1,
            "partitions": [
                {
                    "topic": place.topic,
                    "partition": place.partition,
                    "replicas": list(plan[place]),
                    "log_dirs": ["any"] * len(plan[place]),
                }
                for place in sorted(plan)
            ],
        }
    )


def read_plan(path: Path) -> Plan:
    entries = [
        (TopicPartition(each["topic"], each["partition"]), each["replicas"])
        for each in kafka_json.PLAN.read(path)
    ]
    plan = dict(entries)
    if not plan:
        raise Failure(f"the plan {path} names no partition.", f"Expected format: {kafka_json.PLAN.example}")
    if len(plan) < len(entries):
        twice = next(place for place, _ in entries if sum(place == other for other, _ in entries) > 1)
        raise Failure(f"the plan {path} lists partition {twice} twice.")
    for place, replicas in entries:
        if not replicas or len(set(replicas)) < len(replicas):
            raise Failure(f"the plan {path} assigns {place} the replicas {replicas}: list each broker once.")
    return plan


def propose(seen: Picture, brokers: Sequence[int], replication_factor: int | None) -> Plan:
    """Distributes the topics over these brokers as if they were created now."""
    missing = [broker_id for broker_id in brokers if broker_id not in seen.brokers]
    if missing:
        raise Failure(
            f"broker {missing[0]} is not in the cluster.",
            f"Its brokers are {', '.join(map(str, sorted(seen.brokers)))}.",
        )
    racks = {broker_id: rack for broker_id in brokers if (rack := seen.brokers[broker_id].rack) is not None}
    by_topic: dict[str, list[Sequence[int]]] = {}
    for partition in seen.partitions:
        by_topic.setdefault(partition.place.topic, []).append(partition.replicas)
    plan: dict[TopicPartition, Sequence[int]] = {}
    for number, (topic, replicas) in enumerate(sorted(by_topic.items())):
        factor = replication_factor or max(map(len, replicas))
        if factor > len(brokers):
            raise Failure(
                f"{factor} replicas of topic '{topic}' do not fit on {len(brokers)} broker(s).",
                "Name more brokers, or lower --replication-factor.",
            )
        ordered = sorted(brokers)
        first = ordered[number % len(ordered)]
        placed = place_replicas(range(len(replicas)), factor, ordered, racks, first)
        plan.update({TopicPartition(topic, index): each for index, each in enumerate(placed)})
    return plan
