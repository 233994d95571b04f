"""Replication throttles of a reassignment (KIP-73).

Uses the same settings as kafka-reassign-partitions, so either tool can remove what the other has set.
"""

from collections.abc import Collection, Mapping, Sequence

from moldau.cli.client.config_queries import Alteration, Operation, Resource, alter, describe
from moldau.cli.client.connection import Cluster
from moldau.cli.commands.partitions.move_plans import Plan

LEADERS = "leader.replication.throttled.replicas"
FOLLOWERS = "follower.replication.throttled.replicas"
RATES = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")
SET_BY_HAND = ("topic", "broker, dynamic")


def throttled_replicas(plan: Plan, present: Plan) -> Mapping[str, Mapping[str, str]]:
    """Both settings by topic: leaders are throttled on the current replicas, followers on the added ones."""
    settings: dict[str, Mapping[str, str]] = {}
    for topic in sorted({place.topic for place in plan}):
        leaders: list[str] = []
        followers: list[str] = []
        for place in sorted(place for place in plan if place.topic == topic):
            leaders += [f"{place.partition}:{each}" for each in present[place]]
            followers += [f"{place.partition}:{each}" for each in plan[place] if each not in present[place]]
        named = {LEADERS: ",".join(leaders), FOLLOWERS: ",".join(followers)}
        settings[topic] = {key: replicas for key, replicas in named.items() if replicas}
    return settings


def set_throttle(cluster: Cluster, plan: Plan, present: Plan, bytes_per_s: int) -> None:
    for topic, settings in throttled_replicas(plan, present).items():
        changes = [Alteration(key, Operation.SET, value) for key, value in settings.items()]
        alter(cluster, Resource("topic", topic), changes, dry_run=False)
    for broker_id in sorted({each for place in plan for each in (*plan[place], *present[place])}):
        changes = [Alteration(key, Operation.SET, str(bytes_per_s)) for key in RATES]
        alter(cluster, Resource("broker", str(broker_id)), changes, dry_run=False)


def clear_throttle(cluster: Cluster, topics: Collection[str], brokers: Collection[int]) -> Sequence[Resource]:
    """Removes the throttles and returns what had one."""
    resources = [Resource("topic", topic) for topic in sorted(topics)]
    resources += [Resource("broker", str(broker_id)) for broker_id in sorted(brokers)]
    throttled = []
    for resource, settings in describe(cluster, resources).items():
        keys = [
            setting.name
            for setting in settings
            if setting.name in (LEADERS, FOLLOWERS, *RATES) and setting.source in SET_BY_HAND
        ]
        if keys:
            alter(cluster, resource, [Alteration(key, Operation.DELETE) for key in keys], dry_run=False)
            throttled.append(resource)
    return throttled
