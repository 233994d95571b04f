"""Principals that name API keys: at Moldau's brokers the client of a key is its account.

Rules and roles of the key itself would match nobody there. At other Kafka clusters it is a user like all others.
"""

from collections.abc import Iterable
from typing import Final

import click

from moldau.cli.client import config_queries
from moldau.cli.client.connection import Cluster
from moldau.cli.failures import Failure
from moldau.core.error_codes import ErrorCode
from moldau.security.credentials.api_key import account_of

PLAIN_BY_SCRAM: Final = "moldau.plain.scram.enable"
"""A setting that only Moldau's brokers have."""
_USER: Final = "User:"


def refuse_keys(cluster: Cluster, principals: Iterable[str]) -> None:
    """Failure if one of them is a key and the brokers are Moldau's; a warning if it is not known whose they are."""
    for principal in principals:
        account = _account(principal)
        if account is None:
            continue
        is_moldau = _are_moldau(cluster)
        said = f"{principal} is an API key, and its client is {account} at Moldau's brokers"
        if is_moldau:
            raise Failure(
                f"{said}: a rule or role of the key itself matches nobody.",
                f"Name the account: {account}. Nothing was changed.",
            )
        if is_moldau is None:
            click.echo(f"{said}: if these are Moldau's, name the account instead.", err=True)
            return


def acting(cluster: Cluster, principal: str) -> str:
    """As whom clients of the principal act: for a key its account, unless the brokers are known to be others."""
    account = _account(principal)
    if account is None or _are_moldau(cluster) is False:
        return principal
    click.echo(f"{principal} is an API key: its client is {account}.", err=True)
    return account


def _account(principal: str) -> str | None:
    """The principal of a key's account; None for principals that are no keys."""
    name = principal.removeprefix(_USER)
    account = account_of(name)
    return _USER + account if principal.startswith(_USER) and account != name else None


def _are_moldau(cluster: Cluster) -> bool | None:
    """None for somebody who may not see the settings of brokers."""
    broker = config_queries.Resource("broker", str(min(cluster.wire.brokers)))
    try:
        [settings] = config_queries.describe(cluster, [broker]).values()
    except Failure as failure:
        if failure.code != ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
            raise
        return None
    return any(setting.name == PLAIN_BY_SCRAM for setting in settings)
