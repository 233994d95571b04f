"""The API keys of a cluster: users of SCRAM whose names have the form of a key."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import click

from moldau.cli.client.connection import Cluster
from moldau.cli.client.scram_queries import find_credentials, remove_password, set_password
from moldau.cli.failures import Failure
from moldau.cli.options import complete_names
from moldau.security.credentials.api_key import ApiKey, parse_api_key
from moldau.security.credentials.scram_credential import ITERATIONS_MIN, MECHANISMS


class KeptKey(NamedTuple):
    key: ApiKey
    mechanisms: tuple[str, ...]

    @property
    def is_expired(self) -> bool:
        return self.key.is_expired(int(datetime.now(UTC).timestamp() * 1000))

    @property
    def state(self) -> str:
        return "ended" if self.is_expired else "valid"


def kept_keys(cluster: Cluster) -> list[KeptKey]:
    """By account."""
    found = [
        KeptKey(key, tuple(sorted(mechanisms)))
        for user, mechanisms in find_credentials(cluster).items()
        if (key := parse_api_key(user)) is not None
    ]
    return sorted(found, key=lambda kept: (kept.key.account, kept.key.name))


def find_keys(cluster: Cluster, names: Sequence[str]) -> list[KeptKey]:
    """Keys by their names or their IDs. Failure names the first that does not exist."""
    kept = kept_keys(cluster)
    found: dict[str, KeptKey] = {}
    for name in names:
        match = next((each for each in kept if name in (each.key.name, each.key.key_id)), None)
        if match is None:
            raise Failure(f"there is no API key '{name}'.", "`moldau api-keys list` lists them.")
        found[match.key.name] = match
    return list(found.values())


def add_key(cluster: Cluster, key: ApiKey, secret: str) -> None:
    """All of it or nothing."""
    added: list[str] = []
    doing = f"create an API key of account '{key.account}'"
    try:
        for mechanism in MECHANISMS:
            set_password(cluster, key.name, mechanism, secret.encode(), ITERATIONS_MIN, doing)
            added.append(mechanism)
    except Failure:
        remove_key(cluster, KeptKey(key, tuple(added)))
        raise


def remove_key(cluster: Cluster, kept: KeptKey) -> None:
    for mechanism in kept.mechanisms:
        remove_password(cluster, kept.key.name, mechanism, f"delete API key '{kept.key.name}'")


def complete_key(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return complete_names(ctx, incomplete, lambda cluster: [kept.key.name for kept in kept_keys(cluster)])


def complete_account(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return complete_names(
        ctx, incomplete, lambda cluster: sorted({kept.key.account for kept in kept_keys(cluster)})
    )
