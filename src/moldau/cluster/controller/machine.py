"""What a controller does about the cluster as it finds it. Pure: image in, writes out.

There is no state besides the image, so there is nothing to replay: a controller that takes over looks at all of
it once, and from then on at what changed.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import orjson

from moldau.cluster.controller.elections import decide_preferred, decide_state
from moldau.cluster.controller.reassignment import Move, check_target, decide_done, decide_start
from moldau.coordination import tree_layout as layout
from moldau.coordination.image import ClusterImage, ImageDelta, TopicImage
from moldau.coordination.partition_states import StateWrite
from moldau.core.errors import ApiError
from moldau.core.ids import TopicPartition

UNCLEAN: Final = "unclean.leader.election.enable"


@dataclass(frozen=True, slots=True)
class Decision:
    states: list[StateWrite] = field(default_factory=list)
    moves: list[tuple[TopicImage, Move]] = field(default_factory=list)
    """Changes to a topic's node, each to be written together with its states."""
    handled: list[str] = field(default_factory=list)
    """Nodes somebody asked for something with, to be taken away now that it is done."""
    notes: list[str] = field(default_factory=list)
    """For people to read: what was asked for and cannot be."""

    @property
    def is_empty(self) -> bool:
        return not (self.states or self.moves or self.handled)


def affected_topics(image: ClusterImage, delta: ImageDelta) -> set[str]:
    """Where a change may ask for a decision."""
    if delta.brokers or any(path.startswith(f"{layout.SHUTDOWNS}/") for path in delta.admin):
        return set(image.topics)
    configured = {name for kind, name in delta.configs if kind == "topics"}
    if any(kind == "brokers" for kind, _ in delta.configs):
        return set(image.topics)
    return (set(delta.topics) | configured) & image.topics.keys()


def allows_unclean(image: ClusterImage, topic: str, default: bool) -> bool:
    """Whether a topic may be led by a replica that is not in sync: its own setting, else that of all brokers."""
    everywhere = image.configs.get(("brokers", "<default>"), {}).get(UNCLEAN)
    text = image.topic_configs(topic).get(UNCLEAN, everywhere)
    return default if text is None else text.strip().lower() == "true"


def decide_topics(image: ClusterImage, names: Iterable[str], unclean_default: bool = False) -> Decision:
    decision = Decision()
    for name in names:
        topic = image.topics.get(name)
        if topic is None:
            continue
        move = decide_done(image, topic)
        if move is not None:
            # What else there is to say about this topic can be said of the image that follows.
            decision.moves.append((topic, move))
            continue
        is_unclean = allows_unclean(image, name, unclean_default)
        for partition in range(len(topic)):
            state = decide_state(image, topic, partition, allows_unclean=is_unclean)
            if state is not None:
                decision.states.append(StateWrite(TopicPartition(name, partition), state))
    return decision


def decide_forgotten(image: ClusterImage, seen_before: frozenset[str]) -> tuple[Decision, frozenset[str]]:
    """Takes away the marks of deleted topics that were there the last time too: by then every broker that is there
    has removed its logs. While a broker that has replicas is away they stay, for it to find when it comes back."""
    marks = frozenset(path for path in image.admin if path.startswith(f"{layout.DELETIONS}/"))
    holders = {each for topic in image.topics.values() for replicas in topic.replicas for each in replicas}
    if not holders <= image.brokers.keys():
        return Decision(), marks
    return Decision(handled=sorted(marks & seen_before)), marks


def decide_asked(image: ClusterImage) -> Decision:
    """What people asked for by nodes below `/admin`, as Kafka's tools once did."""
    decision = Decision()
    for path, take in ((layout.PREFERRED_ELECTION, _take_elections), (layout.REASSIGNMENT, _take_moves)):
        node = image.admin.get(path)
        if node is None:
            continue
        decision.handled.append(path)
        try:
            take(image, orjson.loads(node.data)["partitions"], decision)
        except (ValueError, KeyError, TypeError):
            decision.notes.append(f"{path} cannot be understood; it is taken away")
    return decision


def _take_elections(image: ClusterImage, asked: list[dict[str, object]], decision: Decision) -> None:
    for each in asked:
        place = TopicPartition(str(each["topic"]), int(str(each["partition"])))
        if image.state(place) is None:
            decision.notes.append(f"a leader was asked for {place}, which does not exist")
            continue
        state = decide_preferred(image, image.topics[place.topic], place.partition)
        if state is not None:
            decision.states.append(StateWrite(place, state))


def _take_moves(image: ClusterImage, asked: list[dict[str, object]], decision: Decision) -> None:
    targets: dict[str, dict[int, tuple[int, ...]]] = {}
    for each in asked:
        place = TopicPartition(str(each["topic"]), int(str(each["partition"])))
        replicas = each["replicas"]
        if image.state(place) is None or not isinstance(replicas, list):
            decision.notes.append(f"replicas of {place} cannot be moved: it does not exist")
            continue
        try:
            check_target(image, image.topics[place.topic], place.partition, replicas)
        except ApiError as error:
            decision.notes.append(f"replicas of {place} cannot be moved: {error}")
            continue
        targets.setdefault(place.topic, {})[place.partition] = tuple(replicas)
    for name, wanted in targets.items():
        topic = image.topics[name]
        decision.moves.append((topic, decide_start(topic, wanted)))
