"""The cluster as an immutable value, read from the coordination tree: brokers, topics, partition states, settings.

Pure: `ClusterImage.apply` takes nodes that were read and returns a new image with what changed. `image_updater` reads
the nodes. An image may lag behind the tree; a change that must not be based on an old image is written by
compare-and-set.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from moldau.coordination import tree_layout as layout
from moldau.coordination.store import NoNode, Reading, Store
from moldau.coordination.tree_layout import BrokerRegistration, PartitionState
from moldau.core.ids import TopicId, TopicPartition

Key = TypeVar("Key")
Value = TypeVar("Value")

NO_CONTROLLER: Final = -1


@dataclass(frozen=True, slots=True)
class TopicImage:
    name: str
    topic_id: TopicId
    created: int
    version: int
    replicas: tuple[tuple[int, ...], ...]
    adding: Mapping[int, tuple[int, ...]]
    removing: Mapping[int, tuple[int, ...]]
    written: Mapping[int, PartitionState] = field(default_factory=dict)
    """The states that have a node, by partition."""

    def __len__(self) -> int:
        return len(self.replicas)

    def state(self, partition: int) -> PartitionState:
        found = self.written.get(partition)
        return found if found is not None else initial_state(self.replicas[partition], self.created)

    def states(self) -> Iterator[tuple[int, PartitionState]]:
        return ((partition, self.state(partition)) for partition in range(len(self.replicas)))

    def is_reassigning(self, partition: int) -> bool:
        return partition in self.adding or partition in self.removing

    def target(self, partition: int) -> tuple[int, ...]:
        """Its replicas after the reassignment in progress, if any."""
        leaving = self.removing.get(partition, ())
        return tuple(each for each in self.replicas[partition] if each not in leaving)


def initial_state(replicas: tuple[int, ...], created: int) -> PartitionState:
    """The state of a partition that has no state node yet."""
    return PartitionState(replicas[0], 0, replicas, (created,) * len(replicas))


@dataclass(frozen=True, slots=True)
class ImageDelta:
    """What changed between two images: names and IDs only, the image has the rest."""

    brokers: frozenset[int] = frozenset()
    topics: frozenset[str] = frozenset()
    """Topics that were created or deleted, or whose replicas or states changed."""
    controller: bool = False
    configs: frozenset[tuple[str, str]] = frozenset()
    """Kind and name, as in `/config/KIND/NAME`."""
    admin: frozenset[str] = frozenset()
    """Paths of other nodes below `/admin`."""


@dataclass(frozen=True, slots=True)
class ClusterImage:
    brokers: Mapping[int, BrokerRegistration] = field(default_factory=dict)
    topics: Mapping[str, TopicImage] = field(default_factory=dict)
    controller_id: int = NO_CONTROLLER
    controller_epoch: int = 0
    controller_epoch_version: int = layout.NOT_WRITTEN
    configs: Mapping[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)
    """By kind and name, as in `/config/KIND/NAME`."""
    admin: Mapping[str, Reading] = field(default_factory=dict)
    """Other nodes below `/admin`, by path."""

    def topic_configs(self, topic: str) -> Mapping[str, str]:
        return self.configs.get(("topics", topic), {})

    def state(self, topic_partition: TopicPartition) -> PartitionState | None:
        topic = self.topics.get(topic_partition.topic)
        if topic is None or topic_partition.partition >= len(topic):
            return None
        return topic.state(topic_partition.partition)

    def is_stopping(self, broker_id: int) -> bool:
        return layout.shutdown_path(broker_id) in self.admin

    def in_sync(self, state: PartitionState) -> tuple[int, ...]:
        """The members of an ISR that are alive and whose logs lost nothing since they joined it. A sole member is in
        sync in any case: no other replica has more."""
        if len(state.isr) == 1:
            return state.isr if state.isr[0] in self.brokers else ()
        return tuple(
            broker_id
            for broker_id, epoch in zip(state.isr, state.isr_epochs, strict=True)
            if (broker := self.brokers.get(broker_id)) is not None and broker.intact_since <= epoch
        )

    def may_lead(self, state: PartitionState, broker_id: int) -> bool:
        """Whether a broker that the state names as leader may act as such. If it lost the end of its log, followers may
        have more: it waits for the controller's next decision."""
        return state.leader == broker_id and broker_id in self.in_sync(state)

    def difference(self, after: "ClusterImage") -> ImageDelta:
        epoch_of = (self.controller_id, self.controller_epoch)
        return ImageDelta(
            brokers=_differing(self.brokers, after.brokers),
            topics=_differing(self.topics, after.topics),
            controller=epoch_of != (after.controller_id, after.controller_epoch),
            configs=_differing(self.configs, after.configs),
            admin=_differing(self.admin, after.admin),
        )

    def apply(self, nodes: Mapping[str, Reading | None]) -> tuple["ClusterImage", ImageDelta]:
        """The image after these nodes were read; None is a node that is not there."""
        return _Change(self).apply(nodes)


class _Change:
    """Applies one set of nodes to an image. Each mapping is copied once."""

    def __init__(self, image: ClusterImage) -> None:
        self._image = image
        self._brokers = dict(image.brokers)
        self._topics = dict(image.topics)
        self._states: dict[str, dict[int, PartitionState]] = {}
        self._configs = dict(image.configs)
        self._admin = dict(image.admin)
        self._controller = image.controller_id
        self._epoch = (image.controller_epoch, image.controller_epoch_version)

    def apply(self, nodes: Mapping[str, Reading | None]) -> tuple[ClusterImage, ImageDelta]:
        # A topic's own node first: the states belong to the topic with that node's ID.
        for path in sorted(nodes):
            try:
                self._take(path.split("/")[1:], path, nodes[path])
            except (ValueError, KeyError, TypeError):
                # Written by hand or by another program. A node that cannot be parsed counts as missing, so that it
                # does not hide the rest of the tree.
                self._take(path.split("/")[1:], path, None)
        for name, states in self._states.items():
            if name in self._topics:
                self._topics[name] = replace(self._topics[name], written=states)
        after = ClusterImage(
            self._brokers, self._topics, self._controller, *self._epoch, self._configs, self._admin
        )
        return after, self._image.difference(after)

    def _take(self, parts: list[str], path: str, node: Reading | None) -> None:
        match parts:
            case ["brokers", "ids", number]:
                self._take_broker(int(number), node)
            case ["brokers", "topics", name]:
                self._take_topic(name, node)
            case ["brokers", "topics", name, "partitions", number, "state"]:
                self._take_state(name, int(number), node)
            case ["controller"]:
                self._controller = NO_CONTROLLER if node is None else layout.decode_controller(node.data)
            case ["controller_epoch"]:
                self._epoch = (0, layout.NOT_WRITTEN) if node is None else (int(node.data), node.stat.version)
            case ["config", kind, name]:
                if node is None:
                    self._configs.pop((kind, name), None)
                else:
                    self._configs[kind, name] = layout.decode_configs(node.data)
            case ["admin", *_]:
                if node is None:
                    self._admin.pop(path, None)
                elif path not in (layout.DELETIONS, layout.SHUTDOWNS):
                    self._admin[path] = node

    def _take_broker(self, broker_id: int, node: Reading | None) -> None:
        if node is None:
            self._brokers.pop(broker_id, None)
        else:
            self._brokers[broker_id] = layout.decode_broker(broker_id, node.data, node.stat.created)

    def _take_topic(self, name: str, node: Reading | None) -> None:
        before = self._topics.get(name)
        if node is None:
            self._topics.pop(name, None)
            self._states.pop(name, None)
            return
        decoded = layout.decode_topic(node.data)
        is_same = before is not None and before.topic_id == decoded.topic_id
        self._topics[name] = TopicImage(
            name, decoded.topic_id, node.stat.created, node.stat.version,
            decoded.replicas, decoded.adding, decoded.removing,
            before.written if before is not None and is_same else {},
        )  # fmt: skip

    def _take_state(self, name: str, partition: int, node: Reading | None) -> None:
        topic = self._topics.get(name)
        if topic is None:
            return
        states = self._states.get(name)
        if states is None:
            states = self._states[name] = dict(topic.written)
        if node is None:
            states.pop(partition, None)
        else:
            states[partition] = layout.decode_state(node.data, node.stat.version)


def _differing(before: Mapping[Key, Value], after: Mapping[Key, Value]) -> frozenset[Key]:
    return frozenset(
        key
        for key in before.keys() | after.keys()
        if (was := before.get(key)) is not (now := after.get(key)) and was != now
    )


def load_image(store: Store) -> ClusterImage:
    """Reads the whole tree. Blocks."""
    top = [layout.CONTROLLER, layout.CONTROLLER_EPOCH]
    folders = (layout.BROKER_IDS, layout.TOPICS, layout.SHUTDOWNS, layout.DELETIONS)
    below = [path for folder in folders for path in _below(store, folder)]
    admin = [layout.PREFERRED_ELECTION, layout.REASSIGNMENT]
    configs = [
        path
        for kind in _children(store, layout.CONFIGS)
        if kind not in layout.CONFIGS_OUTSIDE_IMAGE
        for path in _below(store, f"{layout.CONFIGS}/{kind}")
    ]
    image, _ = ClusterImage().apply(_read(store, [*top, *below, *admin, *configs]))
    return load_states(store, image, image.topics)


def load_states(store: Store, image: ClusterImage, names: Iterable[str]) -> ClusterImage:
    """Reads the states of these topics' partitions into the image."""
    topics = [image.topics[name] for name in names]
    folders = store.read_many([layout.partitions_path(topic.name) for topic in topics])
    paths = [
        layout.state_path(topic.name, partition)
        for topic, folder in zip(topics, folders, strict=True)
        if folder is not None
        for partition in range(len(topic))
    ]
    after, _ = image.apply({path: node for path, node in _read(store, paths).items() if node is not None})
    return after


def _read(store: Store, paths: list[str]) -> dict[str, Reading | None]:
    return dict(zip(paths, store.read_many(paths), strict=True))


def _below(store: Store, folder: str) -> list[str]:
    return [f"{folder}/{name}" for name in _children(store, folder)]


def _children(store: Store, folder: str) -> list[str]:
    try:
        return store.children(folder)
    except NoNode:
        return []
