"""The address that a client is told to connect to.

It is the one `advertised.listeners` gives for the client's listener. Without that it is the address the
client dialled: the one address known to reach us from there.
"""

from collections.abc import Mapping
from typing import NamedTuple

from moldau.broker.request.client_session import ClientConnection


class Address(NamedTuple):
    host: str
    port: int


class AdvertisedListeners:
    def __init__(self, advertised: Mapping[str, Address]) -> None:
        self._advertised = dict(advertised)

    def address_for(self, connection: ClientConnection) -> Address:
        advertised = self._advertised.get(connection.listener)
        return advertised or Address(connection.local_host, connection.local_port)
