"""Brings this broker in line with each new image of the cluster: its catalog, the replicas it hosts, their roles."""

from moldau.broker.broker import Broker
from moldau.cluster.catalog_feed import CatalogFeed
from moldau.cluster.replica_hosting import ReplicaHosting
from moldau.cluster.replica_roles import ReplicaRoles
from moldau.coordination.image import ClusterImage, ImageDelta


class ImageApplier:
    """Implements `coordination.image_updater.ImageListener`."""

    def __init__(self, broker: Broker, hosting: ReplicaHosting, roles: ReplicaRoles) -> None:
        self._broker_id = broker.broker_id
        self._catalog = CatalogFeed(broker)
        self._hosting = hosting
        self._roles = roles
        self._image = ClusterImage()
        self._is_closed = False

    def start(self, image: ClusterImage) -> None:
        self.image_changed(image, ClusterImage().difference(image))
        self._roles.start()

    def close(self) -> None:
        self._is_closed = True
        self._hosting.close()
        self._roles.close()

    def image_changed(self, image: ClusterImage, delta: ImageDelta) -> None:
        if self._is_closed:
            return
        before, self._image = self._image, image
        self._catalog.take(image, delta)
        configured = {name for kind, name in delta.configs if kind == "topics"}
        self._hosting.apply(image, delta.topics | configured)
        if delta.brokers:
            self._roles.brokers_changed(before, image, delta.brokers)
        if self._broker_id in delta.brokers:
            # Whether this broker may lead the partitions that name it leader depends on its registration.
            self._hosting.apply(image, image.topics)

    def disconnected(self) -> None:
        """Leaders go on leading: without the store nobody can shrink an ISR, so nothing is lost."""

    def connected(self, *, new_session: bool) -> None:
        """The image follows."""
