"""The delegation tokens of the cluster, in memory. Changes are written to the coordination store first.

Owned by the broker's thread; nodes are read and written on the store's thread. What other brokers write is followed by
a watch: tokens are few, so all of them are read again. Without `delegation.token.secret.key` there are none.
"""

import logging
import secrets
from collections.abc import Callable, Iterable
from typing import Final

from moldau.broker.tokens.token_nodes import TOKENS, delete_token, read_tokens, write_token
from moldau.coordination.image_updater import HandOver
from moldau.coordination.store import Store
from moldau.core.errors import StorageFault
from moldau.core.ports import Clock, Scheduler
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.security.credentials.delegation_token import DelegationToken, token_hmac, token_password
from moldau.security.credentials.scram_credential import (
    ITERATIONS_MIN,
    ScramCredential,
    ScramMechanism,
    credential_of_password,
)
from moldau.security.sasl.exchange import Login
from moldau.security.sasl.scram import Known

_log = logging.getLogger("moldau.broker")

RETRY_MS: Final = 500
SALT_BYTES: Final = 32


class DelegationTokens:
    def __init__(
        self, store: Store, store_thread: Scheduler, clock: Clock, settings: Callable[[], BrokerSettings]
    ) -> None:
        """Reads the store: blocks, so call it before anything is served."""
        self._store = store
        self._store_thread = store_thread
        self._clock = clock
        self.settings = settings
        self._secret: str | None = settings().delegation_token_secret_key
        self._by_id: dict[str, DelegationToken] = {}
        self._by_hmac: dict[bytes, str] = {}
        self._credentials: dict[tuple[str, str], ScramCredential] = {}
        self._is_reading = self._is_stale = False
        if self._secret is not None:
            self._replace_all(read_tokens(store))

    @property
    def is_enabled(self) -> bool:
        return self._secret is not None

    def all(self) -> list[DelegationToken]:
        return list(self._by_id.values())

    def of_hmac(self, hmac: bytes) -> DelegationToken | None:
        token_id = self._by_hmac.get(hmac)
        return None if token_id is None else self._by_id.get(token_id)

    def hmac(self, token: DelegationToken) -> bytes:
        assert self._secret is not None
        return token_hmac(self._secret, token.token_id)

    def known(self, token_id: str, mechanism: ScramMechanism) -> Known | None:
        """What a SCRAM login with a token's ID is checked against."""
        token = self._by_id.get(token_id)
        if token is None or token.is_expired(self._clock.now_ms()):
            return None
        credential = self._credentials.get((token_id, mechanism.name))
        if credential is None:
            credential = credential_of_password(
                mechanism, token_password(self.hmac(token)), secrets.token_bytes(SALT_BYTES), ITERATIONS_MIN
            )
            self._credentials[token_id, mechanism.name] = credential
        user = token.owner.partition(":")[2]
        return Known(credential, Login(user, token.expires_ms, is_by_token=True))

    async def put(self, token: DelegationToken) -> None:
        """StorageFault if it cannot be written."""
        await self._store_thread.run_in_worker(lambda: write_token(self._store, token))
        self._replace_all([*(each for each in self.all() if each.token_id != token.token_id), token])

    async def remove(self, token: DelegationToken) -> None:
        """StorageFault if it cannot be written."""
        await self._store_thread.run_in_worker(lambda: delete_token(self._store, token.token_id))
        self._replace_all(each for each in self.all() if each.token_id != token.token_id)

    def watch(self, hand_over: HandOver) -> None:
        """From now on what others write is followed, and expired tokens are removed."""
        if self._secret is None:
            return
        self._store.watch(_Watch(lambda: hand_over(self._note)))
        self._note()
        self._remove_expired()

    def _remove_expired(self) -> None:
        self._store_thread.spawn(self._remove(self._clock.now_ms()))
        interval_ms = self.settings().delegation_token_expiry_check_interval_ms
        self._store_thread.call_later(interval_ms, self._remove_expired)

    async def _remove(self, now_ms: int) -> None:
        for token in [each for each in self.all() if each.is_expired(now_ms)]:
            try:
                await self.remove(token)
            except StorageFault as fault:
                _log.warning("expired delegation token %s could not be removed: %s", token.token_id, fault)
                return
            _log.info("delegation token %s of %s has expired", token.token_id, token.owner)

    def _note(self) -> None:
        self._is_stale = True
        if not self._is_reading:
            self._is_reading = True
            self._store_thread.spawn(self._catch_up())

    async def _catch_up(self) -> None:
        try:
            while self._is_stale:
                self._is_stale = False
                self._replace_all(await self._store_thread.run_in_worker(lambda: read_tokens(self._store)))
        except StorageFault as fault:
            _log.warning("delegation tokens could not be read; retrying in %d ms: %s", RETRY_MS, fault)
            self._store_thread.call_later(RETRY_MS, self._note)
        finally:
            self._is_reading = False

    def _replace_all(self, tokens: Iterable[DelegationToken]) -> None:
        self._by_id = {token.token_id: token for token in tokens}
        self._by_hmac = {self.hmac(token): token.token_id for token in self._by_id.values()}
        self._credentials = {key: each for key, each in self._credentials.items() if key[0] in self._by_id}


class _Watch:
    """Called on threads of the store."""

    def __init__(self, note: Callable[[], object]) -> None:
        self._note = note

    def changed(self, path: str) -> None:
        if path.startswith(f"{TOKENS}/"):
            self._note()

    def disconnected(self) -> None:
        """What is known stays in force."""

    def connected(self, *, new_session: bool) -> None:
        self._note()
