"""The controller's decisions. Pure: image in, writes out.

There is no state besides the image, so there is nothing to replay: a new controller examines the whole image once,
and from then on what changed.
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
    """Changes of topic nodes, each to be written together with its states."""
    handled: list[str] = field(default_factory=list)
    """Nodes that carried a request, to be deleted now that it is carried out."""
    notes: list[str] = field(default_factory=list)
    """For the log: requests that cannot be carried out, and why."""

    @property
    def is_empty(self) -> bool:
        return not (self.states or self.moves or self.handled)


def affected_topics(image: ClusterImage, delta: ImageDelta) -> set[str]:
    """The topics for which a change may require a decision."""
    if delta.brokers or any(path.startswith(f"{layout.SHUTDOWNS}/") for path in delta.admin):
        return set(image.topics)
    configured = {name for kind, name in delta.configs if kind == "topics"}
    if any(kind == "brokers" for kind, _ in delta.configs):
        return set(image.topics)
    return (set(delta.topics) | configured) & image.topics.keys()


def allows_unclean(image: ClusterImage, topic: str, default: bool) -> bool:
    """Whether a replica that is not in sync may lead the topic: by its own setting, else by that of all brokers."""
    everywhere = image.configs.get(("brokers", layout.ALL_BROKERS), {}).get(UNCLEAN)
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
            # Other decisions about this topic are made on the next image.
            decision.moves.append((topic, move))
            continue
        is_unclean = allows_unclean(image, name, unclean_default)
        for partition in range(len(topic)):
            state = decide_state(image, topic, partition, allows_unclean=is_unclean)
            if state is not None:
                decision.states.append(StateWrite(TopicPartition(name, partition), state))
    return decision


def decide_finished_deletions(
    image: ClusterImage, seen_before: frozenset[str]
) -> tuple[Decision, frozenset[str]]:
    """Removes the deletion marks that existed at the last call too: by now every live broker has deleted the logs.
    While any broker with replicas is down, the marks stay, for it to find when it returns."""
    marks = frozenset(path for path in image.admin if path.startswith(f"{layout.DELETIONS}/"))
    holders = {each for topic in image.topics.values() for replicas in topic.replicas for each in replicas}
    if not holders <= image.brokers.keys():
        return Decision(), marks
    return Decision(handled=sorted(marks & seen_before)), marks


def decide_asked(image: ClusterImage) -> Decision:
    """Decides the requests written as nodes below `/admin`, as Kafka's tools used to do."""
    decision = Decision()
    for path, take in ((layout.PREFERRED_ELECTION, _take_elections), (layout.REASSIGNMENT, _take_moves)):
        node = image.admin.get(path)
        if node is None:
            continue
        decision.handled.append(path)
        try:
            take(image, orjson.loads(node.data)["partitions"], decision)
        except (ValueError, KeyError, TypeError):
            decision.notes.append(
                f"{path} is malformed and was deleted; write it as described in coordination/tree_layout.py"
            )
    return decision


def _take_elections(image: ClusterImage, asked: list[dict[str, object]], decision: Decision) -> None:
    for each in asked:
        topic_partition = TopicPartition(str(each["topic"]), int(str(each["partition"])))
        if image.state(topic_partition) is None:
            decision.notes.append(f"no leader can be elected for {topic_partition}: it does not exist")
            continue
        state = decide_preferred(image, image.topics[topic_partition.topic], topic_partition.partition)
        if state is not None:
            decision.states.append(StateWrite(topic_partition, state))


def _take_moves(image: ClusterImage, asked: list[dict[str, object]], decision: Decision) -> None:
    targets: dict[str, dict[int, tuple[int, ...]]] = {}
    for each in asked:
        topic_partition = TopicPartition(str(each["topic"]), int(str(each["partition"])))
        replicas = each["replicas"]
        if image.state(topic_partition) is None or not isinstance(replicas, list):
            decision.notes.append(f"{topic_partition} cannot be reassigned: it does not exist")
            continue
        try:
            check_target(image, image.topics[topic_partition.topic], topic_partition.partition, replicas)
        except ApiError as error:
            decision.notes.append(f"{topic_partition} cannot be reassigned: {error}")
            continue
        targets.setdefault(topic_partition.topic, {})[topic_partition.partition] = tuple(replicas)
    for name, wanted in targets.items():
        topic = image.topics[name]
        decision.moves.append((topic, decide_start(topic, wanted)))
