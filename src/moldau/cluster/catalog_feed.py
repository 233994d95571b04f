"""Updates the catalog, the list of brokers and the settings from the cluster's image."""

from moldau.broker.broker import Broker
from moldau.broker.members import Member
from moldau.broker.request.advertised_listeners import Address
from moldau.broker.topics.catalog import PartitionEntry, TopicEntry
from moldau.coordination import tree_layout as layout
from moldau.coordination.image import ClusterImage, ImageDelta
from moldau.core.errors import ConfigError
from moldau.core.ids import BrokerId


class CatalogFeed:
    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def take(self, image: ClusterImage, delta: ImageDelta) -> None:
        if delta.brokers or delta.controller:
            self._take_members(image)
        for kind, name in sorted(delta.configs):
            self._take_configs(image, kind, name)
        configured = {name for kind, name in delta.configs if kind == "topics"}
        for name in sorted(delta.topics | configured):
            self._take_topic(image, name)

    def _take_members(self, image: ClusterImage) -> None:
        self._broker.members.update(
            (
                Member(
                    BrokerId(each.broker_id),
                    each.rack,
                    {point.listener: Address(point.host, point.port) for point in each.endpoints},
                    each.epoch,
                )
                for _, each in sorted(image.brokers.items())
            ),
            image.controller_id,
        )

    def _take_topic(self, image: ClusterImage, name: str) -> None:
        catalog = self._broker.catalog
        before = catalog.find(name)
        topic = image.topics.get(name)
        if before is not None and (topic is None or topic.topic_id != before.topic_id):
            catalog.remove(before.topic_id)
            if topic is None:
                self._broker.groups.topics_deleted([name])
        if topic is None:
            return
        entry = TopicEntry(
            name,
            topic.topic_id,
            tuple(
                PartitionEntry(state.leader, state.leader_epoch, topic.replicas[index], state.isr)
                for index, state in topic.states()
            ),
            image.topic_configs(name),
        )
        if entry != before:
            catalog.put(entry)
        if before is not None and before.configs != entry.configs:
            self._broker.configs.put_topic(name, entry.configs)

    def _take_configs(self, image: ClusterImage, kind: str, node: str) -> None:
        configs = self._broker.configs
        texts = image.configs.get((kind, node), {})
        name = layout.name_of_node(node)
        match kind:
            case "groups":
                configs.put_group(name, texts)
            case "client-metrics":
                configs.put_client_metrics(name, texts)
            case "brokers":
                layers = configs.layers
                if node == layout.ALL_BROKERS:
                    layers = layers._replace(dynamic_default=texts)
                elif node == str(self._broker.broker_id):
                    layers = layers._replace(dynamic=texts)
                try:
                    layers.settings()
                except (
                    ConfigError
                ):  # Written by another version of Moldau: the present settings stay in force.
                    return
                configs.put_broker(layers)
