"""The limit that is in force for a user with a client id, by Kafka's precedence."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from moldau.security.quotas.quota_keys import CLIENT, USER, Entity

REMEMBERED_MAX: Final = 10_000


class Limit(NamedTuple):
    value: float
    shared_by: tuple[str | None, str | None]
    """Everybody with this user and client id uses of the same quota. None: whoever it is."""


class QuotaLimits:
    def __init__(self) -> None:
        self._limits: Mapping[Entity, Mapping[str, float]] = {}
        self._found: dict[tuple[str, str, str], Limit | None] = {}
        self.keys: frozenset[str] = frozenset()
        """The keys for which anybody has a limit."""

    def put(self, limits: Mapping[Entity, Mapping[str, float]]) -> None:
        """Replaces all limits."""
        self._limits = {entity: values for entity, values in limits.items() if values}
        self.keys = frozenset(key for values in self._limits.values() for key in values)
        self._found.clear()

    def items(self) -> Mapping[Entity, Mapping[str, float]]:
        return self._limits

    def find(self, key: str, user: str, client: str) -> Limit | None:
        asked = (key, user, client)
        try:
            return self._found[asked]
        except KeyError:
            pass
        if len(self._found) >= REMEMBERED_MAX:
            self._found.clear()
        found = self._found[asked] = self._look_up(key, user, client)
        return found

    def _look_up(self, key: str, user: str, client: str) -> Limit | None:
        users = ((USER, user), (USER, None))
        clients = ((CLIENT, client), (CLIENT, None))
        for of_user in users:
            for entity in (*((of_user, of_client) for of_client in clients), (of_user,)):
                value = self._limits.get(entity, {}).get(key)
                if value is not None:
                    return Limit(value, (user, client if len(entity) > 1 else None))
        for of_client in clients:
            value = self._limits.get((of_client,), {}).get(key)
            if value is not None:
                return Limit(value, (None, client))
        return None
