"""`moldau tokens`: delegation tokens, with which a program logs in as their owner for a while (KIP-48).

A token is named by its ID. Its HMAC is a password: it is printed once, when the token is created.
"""

from base64 import b64encode
from collections.abc import Sequence
from typing import Any, TypeVar

import click
from confluent_kafka import KafkaError

from moldau.cli.client.connection import Cluster
from moldau.cli.confirmation import confirm
from moldau.cli.failures import Failure, refused
from moldau.cli.options import Duration, complete_names, on_cluster
from moldau.cli.render.output import columns, document_option, iso_time, output_option, print_data
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.security.create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from moldau.protocol.messages.security.describe_delegation_token import (
    DescribedDelegationToken,
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from moldau.protocol.messages.security.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from moldau.protocol.messages.security.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from moldau.protocol.spec import Request, Response

Answer = TypeVar("Answer", bound=Response)

AT_ONCE = -1
AS_LONG_AS_ALLOWED = -1
REASONS = {
    ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED: (
        "the brokers have no secret to sign tokens with",
        "Set delegation.token.secret.key to the same text on every broker.",
    ),
    ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED: (
        "only a client that has logged in may handle tokens, and not by a token",
        "Give a login with --command-config: security.protocol and sasl.*.",
    ),
    ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED: (
        "you may not create tokens for that owner",
        "Request an ACL: operation CreateTokens on the user.",
    ),
    ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH: ("you are neither its owner nor one of its renewers", None),
    ErrorCode.DELEGATION_TOKEN_EXPIRED: ("it has expired", "Create a new one with `moldau tokens create`."),
    ErrorCode.INVALID_PRINCIPAL_TYPE: ("a renewer must be a user", "Write it as User:NAME."),
}


class Principal(click.ParamType[tuple[str, str]]):
    """`User:alice`, or just `alice`."""

    name = "user"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        kind, separator, name = str(value).partition(":")
        found = (kind, name) if separator else ("User", kind)
        if not all(found):
            self.fail(f"'{value}' is not of the form User:NAME.", param, ctx)
        return found


def complete_token(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return complete_names(ctx, incomplete, lambda cluster: [each.token_id for each in _tokens(cluster)])


@click.group("tokens")
def command() -> None:
    """Manage delegation tokens: logins for programs that must not have the password.

    A client logs in with SCRAM, the ID as its name and the HMAC as its password.
    """


@command.command("create")
@click.option("--owner", type=Principal(), help="As whom the token logs in. Default: you.")
@click.option(
    "--renewer", "renewers", type=Principal(), multiple=True, help="Who may renew it too. Repeatable."
)
@click.option(
    "--max-life", "life_ms", type=Duration(), help="7d, 12h. Default: as long as the brokers allow."
)
@document_option
@on_cluster
def create(
    cluster: Cluster,
    owner: tuple[str, str] | None,
    renewers: Sequence[tuple[str, str]],
    life_ms: int | None,
    output: str,
) -> None:
    """Create a token. Its HMAC is shown only now."""
    kind, name = owner or ("", "")
    request = CreateDelegationTokenRequest(
        owner_principal_type=kind,
        owner_principal_name=name,
        renewers=[CreatableRenewers(principal_type=kind, principal_name=name) for kind, name in renewers],
        max_lifetime_ms=AS_LONG_AS_ALLOWED if life_ms is None else life_ms,
    )
    made = _ask(cluster, request, CreateDelegationTokenResponse, "create a token")
    hmac = b64encode(bytes(made.hmac)).decode()
    if output != "table":
        print_data(
            output,
            {
                "token_id": made.token_id,
                "hmac": hmac,
                "owner": f"{made.principal_type}:{made.principal_name}",
                "expires": iso_time(made.expiry_timestamp_ms),
                "max": iso_time(made.max_timestamp_ms),
            },
        )
        return
    click.echo(
        f"# {made.principal_type}:{made.principal_name}, until {iso_time(made.expiry_timestamp_ms)}; renewable until "
        f"{iso_time(made.max_timestamp_ms)}.\n"
        "# For the Java client:\n"
        "sasl.mechanism=SCRAM-SHA-512\n"
        "sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required "
        f'username="{made.token_id}" password="{hmac}" tokenauth="true";'
    )


@command.command("list")
@click.option(
    "--owner", "owners", type=Principal(), multiple=True, help="Only tokens of this user. Repeatable."
)
@output_option
@on_cluster
def list_command(cluster: Cluster, owners: Sequence[tuple[str, str]], output: str) -> None:
    """List the tokens you own, may renew, or are allowed to see. HMACs are not shown."""
    found = _tokens(cluster, owners)
    if output != "table":
        print_data(output, [_as_data(token) for token in found])
    elif found:
        headings = ("TOKEN", "OWNER", "RENEWERS", "EXPIRES", "RENEWABLE UNTIL")
        click.echo(columns(headings, [tuple(_as_row(token)) for token in found]))
    else:
        click.echo("No tokens.", err=True)


@command.command("renew")
@click.argument("token_id", metavar="TOKEN", shell_complete=complete_token)
@click.option("--for", "period_ms", type=Duration(), help="12h, 1d. Default: as long as the brokers allow.")
@on_cluster
def renew(cluster: Cluster, token_id: str, period_ms: int | None) -> None:
    """Let TOKEN live longer."""
    request = RenewDelegationTokenRequest(
        hmac=_hmac(cluster, token_id), renew_period_ms=AS_LONG_AS_ALLOWED if period_ms is None else period_ms
    )
    doing = f"renew token {token_id}"
    answer = _ask(cluster, request, RenewDelegationTokenResponse, doing)
    click.echo(f"Token {token_id} now expires at {iso_time(answer.expiry_timestamp_ms)}.")


@command.command("expire")
@click.argument("token_id", metavar="TOKEN", shell_complete=complete_token)
@click.option("--in", "period_ms", type=Duration(), help="When, as 1h or 30m from now. Default: at once.")
@click.option("--yes", is_flag=True, help="Skip the question.")
@on_cluster
def expire(cluster: Cluster, token_id: str, period_ms: int | None, yes: bool) -> None:
    """End TOKEN. Connections that logged in with it stay open until their login ends."""
    hmac = _hmac(cluster, token_id)
    if not yes:
        confirm(f"End token {token_id}?", "nothing was changed.")
    request = ExpireDelegationTokenRequest(
        hmac=hmac, expiry_time_period_ms=AT_ONCE if period_ms is None else period_ms
    )
    answer = _ask(cluster, request, ExpireDelegationTokenResponse, f"expire token {token_id}")
    when = "has ended" if period_ms is None else f"now expires at {iso_time(answer.expiry_timestamp_ms)}"
    click.echo(f"Token {token_id} {when}.")


def _tokens(cluster: Cluster, owners: Sequence[tuple[str, str]] = ()) -> list[DescribedDelegationToken]:
    named = [DescribeDelegationTokenOwner(principal_type=kind, principal_name=name) for kind, name in owners]
    request = DescribeDelegationTokenRequest(owners=named or None)
    answer = _ask(cluster, request, DescribeDelegationTokenResponse, "list tokens")
    return sorted(answer.tokens, key=lambda token: (token.issue_timestamp, token.token_id))


def _hmac(cluster: Cluster, token_id: str) -> bytes:
    for token in _tokens(cluster):
        if token.token_id == token_id:
            return bytes(token.hmac)
    raise Failure(f"there is no token '{token_id}' that you may see.", "`moldau tokens list` lists them.")


def _ask(cluster: Cluster, request: Request, answer_type: type[Answer], doing: str) -> Any:
    """The answer, if it has no error."""
    wire = cluster.wire
    answer: Any = wire.ask(wire.any_broker(), request, answer_type, doing)
    code = ErrorCode(answer.error_code)
    if code is ErrorCode.NONE:
        return answer
    if code in REASONS:
        reason, hint = REASONS[code]
        raise Failure(f"cannot {doing}: {reason}.", hint, code)
    raise refused(KafkaError(code), doing)


def _as_row(token: DescribedDelegationToken) -> list[str]:
    return [
        token.token_id,
        f"{token.principal_type}:{token.principal_name}",
        ",".join(f"{each.principal_type}:{each.principal_name}" for each in token.renewers) or "-",
        iso_time(token.expiry_timestamp),
        iso_time(token.max_timestamp),
    ]


def _as_data(token: DescribedDelegationToken) -> dict[str, Any]:
    names = ("token_id", "owner", "renewers", "expires", "max")
    return dict(zip(names, _as_row(token), strict=True)) | {
        "renewers": [f"{each.principal_type}:{each.principal_name}" for each in token.renewers],
        "requester": f"{token.token_requester_principal_type}:{token.token_requester_principal_name}",
    }
