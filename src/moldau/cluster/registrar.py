"""Keeps this broker registered: at the start, and again whenever its registration was lost with its session."""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from moldau.broker.broker import Broker
from moldau.cluster.environment import Environment
from moldau.cluster.registration import KnownSince, Registration, intact_since, read_known, write_known
from moldau.coordination.image import ClusterImage, ImageDelta
from moldau.coordination.store import StoreError
from moldau.core.errors import ConfigError, StorageFault

_log = logging.getLogger("moldau.cluster")

RETRY_MS: Final = 1000
NOT_REGISTERED: Final = -1


class Registrar:
    def __init__(
        self, broker: Broker, environment: Environment, registration: Callable[[], Registration]
    ) -> None:
        """`registration` is called once the listeners are open and their ports known."""
        self._broker = broker
        self._environment = environment
        self._registration = registration
        self._known: KnownSince | None = None
        self._is_registering = False
        self._is_closed = False
        self.epoch = NOT_REGISTERED
        """Of the latest registration of this process."""
        self.joined = asyncio.Event()
        """Set once this broker's own image has its registration: clients are told of a complete cluster only then."""

    async def register(self) -> None:
        """ConfigError when the broker ID belongs to another broker."""
        in_order = self._environment.store_thread.run_in_worker
        directories = self._broker.disks.directories
        was_clean = all(directory.was_clean for directory in directories)
        known = await in_order(lambda: read_known(self._environment.files, directories[0].path))
        since = intact_since(known, self._environment.boot_id, was_clean=was_clean)
        registration = self._registration()
        await in_order(lambda: self._register(registration, since))

    def register_again(self) -> None:
        if not self._is_registering and not self._is_closed:
            self._is_registering = True
            self._environment.scheduler.spawn(self._register_again())

    def image_changed(self, image: ClusterImage, delta: ImageDelta) -> None:
        self.look_for_own_registration(image)
        broker_id = self._broker.broker_id
        if broker_id in delta.brokers and broker_id not in image.brokers:
            self.register_again()

    def look_for_own_registration(self, image: ClusterImage) -> None:
        registered = image.brokers.get(self._broker.broker_id)
        if registered is not None and registered.epoch == self.epoch:
            self.joined.set()

    def close(self) -> None:
        self._is_closed = True

    def _register(self, registration: Registration, since: int | None) -> None:
        self.epoch = registration.register(since)
        directory = self._broker.disks.directories[0].path
        self._known = KnownSince(self._environment.boot_id, self.epoch if since is None else since)
        write_known(self._environment.files, directory, self._known)

    async def _register_again(self) -> None:
        # This process has been alive all the time, so its logs lost nothing.
        registration = self._registration()
        since = None if self._known is None else self._known.intact_since
        try:
            await self._environment.store_thread.run_in_worker(lambda: self._register(registration, since))
        except (StorageFault, StoreError, ConfigError) as problem:
            _log.error("the broker could not register again; retrying in %d ms: %s", RETRY_MS, problem)
            self._is_registering = False
            self._environment.scheduler.call_later(RETRY_MS, self.register_again)
        else:
            self._is_registering = False
