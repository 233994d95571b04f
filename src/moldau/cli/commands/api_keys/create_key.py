"""`moldau api-keys create`: a key, its secret, and the settings of a client that has them."""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import IO, Any, Final

import click

from moldau.cli.client.config_queries import Resource
from moldau.cli.client.config_queries import describe as describe_settings
from moldau.cli.client.connection import Cluster
from moldau.cli.commands.acls.key_principals import PLAIN_BY_SCRAM
from moldau.cli.commands.api_keys.kept_keys import add_key, complete_account
from moldau.cli.commands.api_keys.key_notes import DESCRIPTION_CHARS_MAX, remove_note, write_note
from moldau.cli.failures import Failure
from moldau.cli.options import on_cluster, parse_span
from moldau.cli.render.output import document_option, json_text
from moldau.security.credentials.api_key import ApiKey, is_account_name, new_key
from moldau.security.credentials.scram_credential import MECHANISMS
from moldau.security.sasl.exchange import PLAIN, SCRAM_SHA_512
from moldau.security.sasl.jaas import MODULES

KEPT_PROPERTIES = (
    "security.protocol",
    "ssl.ca.location",
    "ssl.ca.pem",
    "ssl.endpoint.identification.algorithm",
)
"""What a client of the key needs of the properties of this command. None of them is a secret."""


SECRET_MODE: Final = 0o600


class LastDay(click.ParamType[date]):
    """`90d`, or the day itself."""

    name = "duration or day"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> date:
        if isinstance(value, date):
            return value
        text, today = str(value).strip(), datetime.now(UTC).date()
        try:
            span = parse_span(text)
            if span is None and not re.fullmatch(r"\d{4}-\d\d-\d\d", text):
                raise ValueError
            day = date.fromisoformat(text) if span is None else today + span
        except (ValueError, OverflowError):
            self.fail(f"'{text}' is neither a number of days (90d) nor a day (2027-12-31).", param, ctx)
        if span is not None and span < timedelta(days=1):
            self.fail(f"'{text}' is less than a day. Keys end with a day: 1d at least.", param, ctx)
        if day < today:
            self.fail(f"{day} is over.", param, ctx)
        return day


@click.command("create")
@click.option(
    "--account",
    required=True,
    shell_complete=complete_account,
    help="As whom clients log in, User:ACCOUNT: letters, digits and . _ @ -",
)
@click.option(
    "--expires", "last_day", type=LastDay(), help="90d, or the last day: 2027-12-31 (UTC). Default: never."
)
@click.option("--description", help="What it is for. Kept in the topic _moldau_api_keys.")
@click.option(
    "--to",
    "target",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write it to this new file, which only you can read. Default: it is printed.",
)
@document_option
@on_cluster
def create(
    cluster: Cluster,
    account: str,
    last_day: date | None,
    description: str | None,
    target: Path | None,
    output: str,
) -> None:
    """Create an API key. It is printed with its secret as settings of a client; the secret is shown only now."""
    if not is_account_name(account):
        raise click.BadParameter(
            f"'{account}' is not the name of an account: use letters, digits and . _ @ -, at most 100.",
            param_hint="--account",
        )
    if description is not None and not 0 < len(description) <= DESCRIPTION_CHARS_MAX:
        raise click.BadParameter(
            f"it must have 1 to {DESCRIPTION_CHARS_MAX} characters.", param_hint="--description"
        )
    key, secret = new_key(account, last_day)
    with _opened(target) as file:
        _add(cluster, key, secret, description)
        click.echo(_text(cluster, key, secret, output), file=file)
    if target is not None:
        click.echo(f"API key {key.name} of account '{account}' is in {target}.")


@contextmanager
def _opened(target: Path | None) -> Iterator[IO[str] | None]:
    """None: the standard output. Opened before there is a key, since a key whose secret is lost would be of no use."""
    if target is None:
        yield None
        return
    try:
        file = os.fdopen(
            os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, SECRET_MODE), "w", encoding="utf-8"
        )
    except OSError as error:
        raise Failure(
            f"cannot write {target}: {error.strerror}.", "Choose another file with --to. No key was created."
        ) from None
    with file:
        try:
            yield file
        except BaseException:
            target.unlink(missing_ok=True)
            raise


def _add(cluster: Cluster, key: ApiKey, secret: str, description: str | None) -> None:
    if description is not None:
        # Before the key, because a key without its secret printed would be of no use.
        write_note(cluster, key.name, description)
    try:
        add_key(cluster, key, secret)
    except Failure:
        if description is not None:
            remove_note(cluster, key.name)
        raise


def _text(cluster: Cluster, key: ApiKey, secret: str, output: str) -> str:
    settings = _broker_settings(cluster)
    is_other = settings is not None and PLAIN_BY_SCRAM not in settings
    principal = f"User:{key.name if is_other else key.account}"
    if output != "json":
        return _client_file(cluster, key, secret, principal, _mechanism(cluster, settings or {}))
    end = None if key.last_day is None else key.last_day.isoformat()
    return json_text(
        {"key": key.name, "secret": secret, "account": key.account, "principal": principal, "last_day": end}
    )


def _client_file(cluster: Cluster, key: ApiKey, secret: str, principal: str, mechanism: str) -> str:
    until = "" if key.last_day is None else f", valid through {key.last_day} (UTC)"
    lines = [
        f"# API key of account {key.account}{until}. The secret is shown only now: keep these lines.",
        f"# Rules of access name its client {principal}.",
    ]
    if principal != f"User:{key.account}":
        lines.append(
            "# These brokers are not Moldau's: they know neither its account nor its last day, and take it with SCRAM "
            "only."
        )
    if cluster.properties.get("security.protocol", "").lower().startswith("sasl"):
        kept = {name: cluster.properties[name] for name in KEPT_PROPERTIES if name in cluster.properties}
        lines.append(f"bootstrap.servers={cluster.bootstrap_servers}")
        lines += [f"{name}={value}" for name, value in kept.items()]
    else:
        lines.append("# Add bootstrap.servers and security.protocol of a listener with SASL.")
    lines += [
        f"sasl.mechanism={mechanism}",
        f"sasl.username={key.name}",
        f"sasl.password={secret}",
        "# The Java client has in place of the last two:",
        f'# sasl.jaas.config={MODULES[mechanism]} required username="{key.name}" password="{secret}";',
    ]
    return "\n".join(lines)


def _mechanism(cluster: Cluster, settings: Mapping[str, str | None]) -> str:
    """That of this command if the key can have it, since the listener offers it."""
    own = cluster.properties.get("sasl.mechanism") or cluster.properties.get("sasl.mechanisms", "")
    if own in MECHANISMS or (own == PLAIN and settings.get(PLAIN_BY_SCRAM) == "true"):
        return own
    return SCRAM_SHA_512


def _broker_settings(cluster: Cluster) -> Mapping[str, str | None] | None:
    """Those of one broker; None for somebody who may not see them."""
    try:
        broker = Resource("broker", str(min(cluster.wire.brokers)))
        return {each.name: each.value for each in describe_settings(cluster, [broker])[broker]}
    except Failure:
        return None
