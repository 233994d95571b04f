"""Connections to the other brokers of the cluster. Implements `cluster.peer_network.PeerNetwork`."""

import socket
import weakref
from typing import Final

from moldau.broker.members import Members
from moldau.core.errors import ConfigError
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.listeners import Listener
from moldau.net.channel import Channel

EVERY_INTERFACE: Final = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 compared, not bound


class PeerLinks:
    def __init__(self, members: Members, listener: str) -> None:
        self._members = members
        self._listener = listener
        self._open: weakref.WeakSet[Channel] = weakref.WeakSet()
        self.is_cut = False
        """Set by tests: no broker can be reached."""

    async def connect(self, broker_id: int, timeout_s: float) -> Channel:
        if self.is_cut:
            raise OSError("this broker is cut off")
        member = self._members.find(broker_id)
        address = None if member is None else member.addresses.get(self._listener)
        if address is None:
            raise LookupError(f"broker {broker_id} is not registered with a listener {self._listener}")
        channel = await Channel.open(address.host, address.port, timeout_s)
        self._open.add(channel)
        return channel

    def close_all(self) -> None:
        for channel in list(self._open):
            channel.close()


def inter_broker_listener(settings: BrokerSettings, listeners: tuple[Listener, ...]) -> str:
    """The name of the inter-broker listener."""
    wanted = settings.inter_broker_listener_name
    if wanted is None:
        protocol = settings.security_inter_broker_protocol
        wanted = next((each.name for each in listeners if each.protocol.value == protocol), listeners[0].name)
    if wanted.upper() not in {each.name for each in listeners}:
        raise ConfigError(
            f"inter.broker.listener.name={wanted} is not among the listeners: add it to listeners, or choose one of "
            f"{', '.join(each.name for each in listeners)}"
        )
    return wanted.upper()


def reachable_host(host: str) -> str:
    """The host other brokers and clients are given if `advertised.listeners` has none."""
    if host not in EVERY_INTERFACE:
        return host
    try:
        return socket.gethostbyname(socket.gethostname())
    except OSError:
        return "127.0.0.1"
