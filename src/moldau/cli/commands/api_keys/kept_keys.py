"""The API keys of a cluster: users of SCRAM whose names have the form of a key."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import click
from confluent_kafka.admin import (
    ScramCredentialInfo,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)

from moldau.cli.client.connection import Cluster
from moldau.cli.commands.users import ITERATIONS, MECHANISMS, credentials
from moldau.cli.failures import Failure
from moldau.cli.options import complete_names
from moldau.security.credentials.api_key import ApiKey, parse_api_key


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
        for user, mechanisms in credentials(cluster).items()
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
    # A user is changed once in a request, so each mechanism has its own.
    added: list[str] = []
    try:
        for mechanism, kind in MECHANISMS.items():
            info = ScramCredentialInfo(kind, ITERATIONS)
            wanted = UserScramCredentialUpsertion(key.name, info, secret.encode())
            _alter(cluster, wanted, key, f"create an API key of account '{key.account}'")
            added.append(mechanism)
    except Failure:
        remove_key(cluster, KeptKey(key, tuple(added)))
        raise


def remove_key(cluster: Cluster, kept: KeptKey) -> None:
    for mechanism in kept.mechanisms:
        deletion = UserScramCredentialDeletion(kept.key.name, MECHANISMS[mechanism])
        _alter(cluster, deletion, kept.key, f"delete API key '{kept.key.name}'")


def complete_key(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return complete_names(ctx, incomplete, lambda cluster: [kept.key.name for kept in kept_keys(cluster)])


def complete_account(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return complete_names(
        ctx, incomplete, lambda cluster: sorted({kept.key.account for kept in kept_keys(cluster)})
    )


def _alter(
    cluster: Cluster,
    alteration: UserScramCredentialUpsertion | UserScramCredentialDeletion,
    key: ApiKey,
    doing: str,
) -> None:
    futures = cluster.admin.alter_user_scram_credentials([alteration])
    cluster.wait(futures[key.name], doing)
