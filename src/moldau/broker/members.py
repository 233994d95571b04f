"""The brokers of the cluster as clients see them: their ids, addresses and racks, and the controller.

Owned by the broker's thread. A standalone broker is the only member.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from moldau.broker.request.advertised_listeners import Address, AdvertisedListeners
from moldau.broker.request.client_session import ClientConnection
from moldau.core.ids import BrokerId

NO_BROKER: Final = -1


class Member(NamedTuple):
    broker_id: BrokerId
    rack: str | None
    addresses: Mapping[str, Address]
    """By listener name."""
    epoch: int
    """Of the registration: it changes with each start."""


class Members:
    def __init__(self, broker_id: BrokerId, rack: str | None, listeners: AdvertisedListeners) -> None:
        self._broker_id = broker_id
        self._listeners = listeners
        self._by_id: dict[BrokerId, Member] = {broker_id: Member(broker_id, rack, {}, 0)}
        self.controller_id: int = broker_id
        self.epoch = 0
        """Grows with every change. Caches use it as a key."""

    def update(self, members: Iterable[Member], controller_id: int) -> None:
        self._by_id = {member.broker_id: member for member in members}
        self.controller_id = controller_id
        self.epoch += 1

    @property
    def admin_broker_id(self) -> int:
        """The broker that clients send controller requests to: the controller or, while there is none, any
        other broker, since all of them accept these requests. A client that learns of no controller does not
        ask again for minutes."""
        return (
            self.controller_id if self.controller_id in self._by_id else min(self._by_id, default=NO_BROKER)
        )

    def __iter__(self) -> Iterator[Member]:
        return iter(list(self._by_id.values()))

    @property
    def alive(self) -> frozenset[BrokerId]:
        return frozenset(self._by_id)

    def find(self, broker_id: int) -> Member | None:
        return self._by_id.get(BrokerId(broker_id))

    def offline(self, replicas: Iterable[int]) -> list[int]:
        return [replica for replica in replicas if replica not in self._by_id]

    def address_of(self, broker_id: int, connection: ClientConnection) -> Address | None:
        """The address at which a client of this listener reaches a broker; None when it cannot."""
        member = self.find(broker_id)
        if broker_id == self._broker_id:
            return self._listeners.address_for(connection)
        return None if member is None else member.addresses.get(connection.listener)

    def seen_by(self, connection: ClientConnection) -> list[tuple[BrokerId, Address, str | None]]:
        """The brokers that a client of this listener can reach."""
        found = ((each, self.address_of(each.broker_id, connection)) for each in self._by_id.values())
        return [(each.broker_id, address, each.rack) for each, address in found if address is not None]
