"""Connections to the other brokers of the cluster. Implements `cluster.peer_network.PeerNetwork`."""

import random
import socket
import uuid
import weakref
from collections.abc import Callable
from typing import Final

from moldau.broker.members import Members
from moldau.cluster.peer_login import LoggedInChannel
from moldau.cluster.peer_network import PeerChannel
from moldau.core.errors import ConfigError
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.listeners import Listener
from moldau.net.channel import Channel
from moldau.node.key_download import fetch_token
from moldau.node.os_clock import OsClock
from moldau.node.tls_identities import TlsIdentities
from moldau.security.sasl.broker_login import broker_login
from moldau.security.sasl.client_login import ClientLogin
from moldau.security.sasl.token_sources import TokenSources

EVERY_INTERFACE: Final = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 compared, not bound


class PeerLinks:
    def __init__(
        self, members: Members, listener: Listener, settings: BrokerSettings, identities: TlsIdentities
    ) -> None:
        """ConfigError if this broker has no way to log in to the others."""
        self._members = members
        self._listener = listener
        self._identities = identities
        self._open: weakref.WeakSet[Channel] = weakref.WeakSet()
        self.is_cut = False
        """Set by tests: no broker can be reached."""
        self.settings: Callable[[], BrokerSettings] = lambda: settings
        """The settings in force."""
        self._tokens = TokenSources(
            fetch_token, OsClock().now_ms, jitter=random.random, new_id=lambda: str(uuid.uuid4())
        )
        if listener.protocol.has_sasl:
            self._begin_login(listener.host)

    async def connect(self, broker_id: int, timeout_s: float) -> PeerChannel:
        if self.is_cut:
            raise OSError("this broker is cut off")
        name = self._listener.name
        member = self._members.find(broker_id)
        address = None if member is None else member.addresses.get(name)
        if address is None:
            raise LookupError(f"broker {broker_id} is not registered with a listener {name}")
        tls = self._identities.by_listener[name].client if self._listener.protocol.has_tls else None
        channel = await Channel.open(address.host, address.port, timeout_s, tls=tls)
        self._open.add(channel)
        if not self._listener.protocol.has_sasl:
            return channel
        mechanism = self.settings().sasl_mechanism_inter_broker_protocol
        logged_in = LoggedInChannel(
            channel, mechanism, lambda: self._begin_login(address.host), f"broker-{self.settings().node_id}"
        )
        try:
            await logged_in.log_in(timeout_s)
        except BaseException:
            channel.close()
            raise
        return logged_in

    def _begin_login(self, host: str) -> ClientLogin:
        return broker_login(self.settings(), self._listener.name, host, self._tokens)

    def close_all(self) -> None:
        for channel in list(self._open):
            channel.close()


def inter_broker_listener(settings: BrokerSettings, listeners: tuple[Listener, ...]) -> Listener:
    """The listener for connections between brokers."""
    wanted = settings.inter_broker_listener_name
    if wanted is None:
        protocol = settings.security_inter_broker_protocol
        wanted = next((each.name for each in listeners if each.protocol.value == protocol), listeners[0].name)
    found = next((each for each in listeners if each.name == wanted.upper()), None)
    if found is None:
        raise ConfigError(
            f"inter.broker.listener.name={wanted} is not among the listeners: add it to listeners, or choose one of "
            f"{', '.join(each.name for each in listeners)}"
        )
    return found


def reachable_host(host: str) -> str:
    """The host other brokers and clients are given if `advertised.listeners` has none."""
    if host not in EVERY_INTERFACE:
        return host
    try:
        return socket.gethostbyname(socket.gethostname())
    except OSError:
        return "127.0.0.1"
