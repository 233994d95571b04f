"""The proxies of users: with `client.login.passthrough` each user has clients of Kafka of its own, logged in with the
name and the password of its requests. Without it, all share one.
"""

import asyncio
import base64
import binascii
import hashlib
import logging
import time
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from confluent_kafka import KafkaError
from confluent_kafka.admin import AdminClient

from moldau.proxies.rest.failures import AUTHENTICATION, RestFailure, of_kafka, too_many
from moldau.proxies.rest.proxy import Proxy
from moldau.proxies.rest.settings import Configuration

IDLE_S_MAX: Final = 600.0
SWEEP_S: Final = 30.0
CHECK_S: Final = 30.0
"""A login that was right is tried again at the cluster after this time: its password may have changed."""
WAITING_S: Final = 2.0
"""When a request has waited so long for Kafka, the login is tried: clients of a wrong one wait for long."""
WAITING_CHECK_S: Final = 5.0
"""Unless it was right so short a time ago."""
TURN_S: Final = 0.05
LOGIN_S_MAX: Final = 15.0
RECONNECT_MS: Final = "1000"
"""A client that checks a login is closed before it would try a wrong one for the second time."""
NAME_SHOWN: Final = 100
"""Characters of a name in the log."""
Key = tuple[str, bytes]
T = TypeVar("T")

log = logging.getLogger("moldau.rest")


@dataclass
class _User:
    """`made` is done when the user has logged in."""

    name: str
    configuration: Configuration
    made: "asyncio.Task[Proxy]"
    used_s: float
    """When it was last asked for."""
    checked_s: float
    """When the last login began that the cluster took."""
    check: "asyncio.Task[None] | None" = None
    """The login that is tried again now."""

    @property
    def proxy(self) -> Proxy | None:
        """None until it has logged in."""
        task = self.made
        return None if not task.done() or task.cancelled() or task.exception() else task.result()


class UserProxies:
    """Finds the proxy of a request. Used by the event loop only."""

    def __init__(self, configuration: Configuration, shared: Proxy) -> None:
        self._configuration = configuration
        self._is_on = configuration.settings.login_passthrough
        self._max = configuration.settings.login_users_max
        self._users: dict[Key, _User] = {}
        self._sweeper: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._abandoned: set[asyncio.Future[Any]] = set()
        """The work of requests that were answered before it ended."""
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

    async def before_shutdown(self) -> None:
        for each in self._all():
            await each.before_shutdown()

    async def stop(self) -> None:
        if self._sweeper is not None:
            self._sweeper.cancel()
        for user in self._users.values():
            user.made.cancel()
            if user.check is not None:
                user.check.cancel()
        await asyncio.gather(*self._ending)
        for each in self._all():
            if each is not self.shared:
                await each.stop()
        await self.shared.stop()

    async def of(self, authorization: str | None, client: str) -> Proxy:
        """`client` is the address that a failed login is logged with. Raises RestFailure 40101 without a login, or with
        a wrong one."""
        if not self._is_on:
            return self.shared
        name, password = _credentials(authorization)
        key = (name, hashlib.sha256(f"{name}\0{password}".encode()).digest())
        user = self._users.get(key)
        if user is None:
            if len(self._users) >= self._max:
                raise too_many(
                    f"{self._max} users have clients of their own already (client.login.users.max)."
                )
            configuration = self._configuration.for_user(name, password)
            now_s = time.monotonic()
            made = asyncio.create_task(self._make(configuration, name))
            user = _User(name, configuration, made, used_s=now_s, checked_s=now_s)
            self._users[key] = user
        user.used_s = time.monotonic()
        try:
            proxy = await asyncio.shield(user.made)
            await self._check(key, user)
        except RestFailure as failure:
            if user.proxy is None and self._users.get(key) is user:
                del self._users[key]
            if failure.code == AUTHENTICATION:
                log.warning("the cluster refused the login of user %a from %s", name[:NAME_SHOWN], client)
            raise
        return proxy

    async def answer(self, proxy: Proxy, work: Awaitable[T]) -> T:
        """Awaits what the handler of a request does with the proxy. Raises RestFailure, 40101 if the cluster refuses
        the login by now."""
        if proxy is self.shared:
            return await work
        task = asyncio.ensure_future(work)
        try:
            await asyncio.wait({task}, timeout=WAITING_S)
            if not task.done():
                await self._check_waiting(proxy)
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.cancel()
            raise
        except RestFailure as failure:
            if task.done() and failure.code == AUTHENTICATION:
                await self._check_waiting(proxy)
            raise
        finally:
            if not task.done():
                # A thread may be at work for it, which cannot be interrupted. What comes of it is not asked for.
                self._abandoned.add(task)
                task.add_done_callback(self._forget)

    async def _check_waiting(self, proxy: Proxy) -> None:
        """Raises RestFailure 40101 if the cluster refuses the login, and nothing if it does not answer."""
        found = next(((key, user) for key, user in self._users.items() if user.proxy is proxy), None)
        if found is None:
            raise _unauthorized("The cluster refuses this login by now.")
        try:
            await self._check(*found, WAITING_CHECK_S)
        except RestFailure as failure:
            if failure.code == AUTHENTICATION:
                raise

    def _forget(self, task: asyncio.Future[Any]) -> None:
        self._abandoned.discard(task)
        if not task.cancelled():
            task.exception()  # So that asyncio does not report it.

    async def _make(self, configuration: Configuration, name: str) -> Proxy:
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self.shared.threads.logins, log_in, configuration, name)
        shared = self.shared
        made = await loop.run_in_executor(
            shared.threads.logins,
            lambda: Proxy(configuration, shared.listen_url, shared.own_url, shared=shared),
        )
        await made.start()
        if shared.is_stopping.is_set():
            await made.before_shutdown()
        return made

    async def _check(self, key: Key, user: _User, age_s: float | None = None) -> None:
        """Tries the login again if the last time is longer ago, by default than CHECK_S. Raises RestFailure."""
        if time.monotonic() - user.checked_s < (CHECK_S if age_s is None else age_s):
            return
        if user.check is None or user.check.done():
            user.check = asyncio.create_task(self._log_in_again(key, user))
        await asyncio.shield(user.check)

    async def _log_in_again(self, key: Key, user: _User) -> None:
        begun_s = time.monotonic()
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(self.shared.threads.logins, log_in, user.configuration, user.name)
        except RestFailure as failure:
            if failure.code == AUTHENTICATION and self._users.get(key) is user:
                log.warning(
                    "the cluster refuses the login of user %a by now: its clients are closed",
                    user.name[:NAME_SHOWN],
                )
                del self._users[key]
                ending = asyncio.create_task(_end(user.made.result()))
                self._ending.add(ending)
                ending.add_done_callback(self._ending.discard)
            raise
        user.checked_s = begun_s

    def _all(self) -> list[Proxy]:
        return [self.shared, *(each.proxy for each in self._users.values() if each.proxy is not None)]

    async def _sweep(self) -> None:
        """Ends the clients of users that have not asked for anything for long, and tries the logins of the others:
        they may have a request that goes on for long."""
        while True:
            await asyncio.sleep(SWEEP_S)
            oldest_s = time.monotonic() - IDLE_S_MAX
            kept = []
            for key, user in list(self._users.items()):
                if not user.made.done():
                    continue
                proxy = user.proxy
                if proxy is None:
                    del self._users[key]
                elif user.used_s <= oldest_s and proxy.is_idle:
                    del self._users[key]
                    await proxy.stop()
                else:
                    kept.append((key, user))
            # What fails is logged, or is asked again with the next request.
            await asyncio.gather(*(self._check(*each) for each in kept), return_exceptions=True)


async def _end(proxy: Proxy) -> None:
    await proxy.before_shutdown()
    await proxy.stop()


def log_in(configuration: Configuration, name: str) -> None:
    """Asks the cluster something as that user. Blocks. Raises RestFailure 40101 if the password is wrong."""
    refused: list[KafkaError] = []

    def on_error(error: KafkaError) -> None:
        if error.code() == KafkaError._AUTHENTICATION:
            refused.append(error)

    properties: dict[str, Any] = {
        "reconnect.backoff.ms": RECONNECT_MS,
        **configuration.client("admin"),
        "error_cb": on_error,
        "log_level": "0",
    }
    admin: AdminClient | None = None
    failure: BaseException | None = None
    try:
        admin = AdminClient(properties)
        answer = admin.describe_cluster(request_timeout=LOGIN_S_MAX)
        while not answer.done() and not refused:
            admin.poll(TURN_S)
        if not refused:
            failure = answer.exception()
    finally:
        # The client ends with the last reference to it. An exception keeps this frame, and the client would log in
        # again and again until garbage is looked for.
        del admin
    if refused:
        raise _unauthorized(f"The cluster refused the login of user {name!r}.")
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
