"""The proxies of users: with `client.login.passthrough` each user has clients of Kafka of its own, logged in with the
name and the password of its requests. Without it, all share one.
"""

import asyncio
import base64
import binascii
import hashlib
import logging
import time
from typing import Any, Final, NamedTuple

from confluent_kafka import KafkaError
from confluent_kafka.admin import AdminClient

from moldau.proxies.rest.failures import AUTHENTICATION, RestFailure, of_kafka, too_many
from moldau.proxies.rest.proxy import Proxy
from moldau.proxies.rest.settings import Configuration

IDLE_S_MAX: Final = 600.0
SWEEP_S: Final = 30.0
TURN_S: Final = 0.05
LOGIN_S_MAX: Final = 15.0
Key = tuple[str, bytes]

log = logging.getLogger("moldau.rest")


class _User(NamedTuple):
    """`made` is done when the user has logged in."""

    made: "asyncio.Task[Proxy]"
    used_s: list[float]
    """When it was last asked for, the one item."""


class UserProxies:
    """Finds the proxy of a request. Used by the event loop only."""

    def __init__(self, configuration: Configuration, shared: Proxy) -> None:
        self._configuration = configuration
        self._is_on = configuration.settings.login_passthrough
        self._max = configuration.settings.login_users_max
        self._users: dict[Key, _User] = {}
        self._sweeper: asyncio.Task[None] | None = None
        self.shared = shared
        gauge = shared.metrics.gauge
        gauge("moldau_rest_users", "Users with clients of their own.", lambda: len(self._users))
        gauge(
            "moldau_rest_consumer_instances",
            "Consumer instances that exist.",
            lambda: sum(len(each.instances) for each in self._all()),
        )
        gauge(
            "moldau_rest_simple_consumers",
            "Reads and streams of events without an instance.",
            lambda: sum(each.simple.in_use for each in self._all()),
        )

    async def start(self) -> None:
        await self.shared.start()
        if self._is_on:
            self._sweeper = asyncio.create_task(self._sweep())

    async def stop(self) -> None:
        if self._sweeper is not None:
            self._sweeper.cancel()
        for user in self._users.values():
            user.made.cancel()
        for each in self._all():
            if each is not self.shared:
                await each.stop()
        await self.shared.stop()

    async def of(self, authorization: str | None) -> Proxy:
        """Raises RestFailure 40101 without a login, or with a wrong one."""
        if not self._is_on:
            return self.shared
        name, password = _credentials(authorization)
        # The password itself is kept by Kafka's clients only.
        key = (name, hashlib.sha256(f"{name}\0{password}".encode()).digest())
        user = self._users.get(key)
        if user is None:
            if len(self._users) >= self._max:
                raise too_many(
                    f"{self._max} users have clients of their own already (client.login.users.max)."
                )
            user = _User(asyncio.create_task(self._make(name, password)), [0.0])
            self._users[key] = user
        user.used_s[0] = time.monotonic()
        try:
            return await asyncio.shield(user.made)
        except RestFailure:
            if self._users.get(key) is user:
                del self._users[key]
            raise

    async def _make(self, name: str, password: str) -> Proxy:
        configuration = self._configuration.for_user(name, password)
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self.shared.threads.logins, log_in, configuration, name)
        shared = self.shared
        made = await loop.run_in_executor(
            shared.threads.logins,
            lambda: Proxy(configuration, shared.listen_url, shared.own_url, shared=shared),
        )
        await made.start()
        return made

    def _all(self) -> list[Proxy]:
        made = (each.made for each in self._users.values())
        return [
            self.shared,
            *(
                task.result()
                for task in made
                if task.done() and not task.cancelled() and not task.exception()
            ),
        ]

    async def _sweep(self) -> None:
        """Ends the clients of users that have not asked for anything for long."""
        while True:
            await asyncio.sleep(SWEEP_S)
            oldest_s = time.monotonic() - IDLE_S_MAX
            for key, user in list(self._users.items()):
                if user.used_s[0] > oldest_s or not user.made.done():
                    continue
                if user.made.cancelled() or user.made.exception():
                    del self._users[key]
                elif user.made.result().is_idle:
                    del self._users[key]
                    await user.made.result().stop()


def log_in(configuration: Configuration, name: str) -> None:
    """Asks the cluster something as that user. Blocks. Raises RestFailure 40101 if the password is wrong."""
    refused: list[KafkaError] = []

    def on_error(error: KafkaError) -> None:
        if error.code() == KafkaError._AUTHENTICATION:
            refused.append(error)

    properties: dict[str, Any] = {**configuration.client("admin"), "error_cb": on_error, "log_level": "0"}
    admin = AdminClient(properties)
    answer = admin.describe_cluster(request_timeout=LOGIN_S_MAX)
    while not answer.done() and not refused:
        admin.poll(TURN_S)
    if refused:
        log.warning("the cluster refused the login of a user of the proxy")
        raise _unauthorized(f"The cluster refused the login of user {name!r}.")
    failure = answer.exception()
    if failure is not None:
        raise of_kafka(failure)  # type: ignore[arg-type]


def _credentials(authorization: str | None) -> tuple[str, str]:
    kind, _, text = (authorization or "").partition(" ")
    if kind.lower() == "basic":
        try:
            name, separator, password = base64.b64decode(text.strip(), validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            separator = ""
        if separator and name and password and "\0" not in name + password:
            return name, password
    raise _unauthorized("Send the name and the password of a user of the cluster, with Basic authentication.")


def _unauthorized(words: str) -> RestFailure:
    return RestFailure(AUTHENTICATION, f"Unauthorized: {words}")
