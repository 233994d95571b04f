"""TLS of the listener, and logins: by a certificate, or by a name and a password of the users' file."""

import asyncio
import logging
import os
import ssl
import stat
from typing import Any, Final, NamedTuple

from moldau.core.errors import ConfigError
from moldau.proxies.mqtt.codec.packets import Connect
from moldau.proxies.mqtt.settings import MqttSettings
from moldau.services.listening import Address
from moldau.services.security.https import Https
from moldau.services.security.keys import BASIC
from moldau.services.security.logins import UsersFile

REFRESH_S: Final = 5.0

log = logging.getLogger("moldau.mqtt")


class Login(NamedTuple):
    """What a CONNECT has shown."""

    is_allowed: bool
    user: str | None = None
    """`User:name`; None: there are no logins, and it has no certificate."""


REFUSED: Final = Login(False)


class Security:
    """Made before the proxy listens, so that mistakes are known."""

    def __init__(self, settings: MqttSettings) -> None:
        """Raises ConfigError."""
        values = settings.security
        plain = [one for one in addresses(settings) if not is_encrypted(one)]
        self._tls = None if len(plain) == len(addresses(settings)) else Https(values, ["http/1.1", "mqtt"])
        self._users: UsersFile | None = None
        self._users_file = ""
        self._warned_of: int | None = None
        """The mode of the users' file that there was a warning about."""
        if values["authentication.method"] == BASIC:
            self._users_file = values["authentication.users.file"]
            self._users = UsersFile(self._users_file, values["authentication.roles"])
            self._warn_of_readers()
            for address in plain:
                if address.scheme == "http":
                    continue
                log.warning("passwords travel unencrypted to %s: use TLS", address)

    def context(self, address: Address) -> ssl.SSLContext | None:
        """None: the listener is not encrypted."""
        return self._tls.context if self._tls is not None and is_encrypted(address) else None

    def login(self, packet: Connect, transport: asyncio.BaseTransport) -> Login:
        """Whether the client may connect, and as whom: it has shown a certificate, or knows a password."""
        connection: Any = transport.get_extra_info("ssl_object")
        certificate = None if connection is None else connection.getpeercert(binary_form=True)
        if certificate:
            assert self._tls is not None
            try:
                return Login(True, self._tls.principal_of(certificate))
            except ValueError as error:
                log.warning("a client's certificate gives no user: %s", error)
                return REFUSED
        if self._users is None:
            return Login(True)
        if packet.username is None or packet.password is None:
            return REFUSED
        try:
            password = packet.password.decode()
        except UnicodeDecodeError:
            return REFUSED
        return (
            Login(True, f"User:{packet.username}")
            if self._users.allows(packet.username, password)
            else REFUSED
        )

    async def keep_fresh(self) -> None:
        """Takes over changed files, until it is cancelled."""
        while True:
            await asyncio.sleep(REFRESH_S)
            await asyncio.to_thread(self._refresh)

    def _refresh(self) -> None:
        if self._tls is not None:
            self._tls.refresh()
        if self._users is not None:
            try:
                self._users.refresh()
            except ConfigError as error:
                log.error("the users stay as they were: %s", error)
            self._warn_of_readers()

    def _warn_of_readers(self) -> None:
        """The file has passwords: others on the machine should not read it, nor write it."""
        try:
            mode = stat.S_IMODE(os.stat(self._users_file).st_mode)
        except OSError:
            return  # somebody replaces it
        is_open = mode & (stat.S_IROTH | stat.S_IWOTH | stat.S_IWGRP)
        if is_open and mode != self._warned_of:
            log.warning(
                "authentication.users.file %s has passwords and the mode %03o, with which others on this machine read "
                "or change it: chmod 600 %s",
                self._users_file,
                mode,
                self._users_file,
            )
        self._warned_of = mode


def addresses(settings: MqttSettings) -> list[Address]:
    """Where the proxy listens."""
    wanted = (settings.address, settings.websocket_address, settings.metrics_address)
    return [one for one in wanted if one is not None]


def is_encrypted(address: Address) -> bool:
    """Whether it is one with TLS."""
    return address.scheme in ("mqtts", "wss")


def report(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """The loop's handler of exceptions: a failed handshake is the peer's affair, and worth a line."""
    error = context.get("exception")
    if isinstance(error, ssl.SSLError | ConnectionError | TimeoutError):
        log.info("a connection has failed: %s", error)
    else:
        loop.default_exception_handler(context)
