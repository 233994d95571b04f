"""`moldau users`: the users of a cluster who log in with SCRAM.

A password is asked for, or read from a file or the standard input. It is no option: the command line of a process is
no secret. What is sent to the broker is the salted password.
"""

import sys
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import click
from confluent_kafka import KafkaError
from confluent_kafka.admin import (
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)

from moldau.cli.client.connection import Cluster
from moldau.cli.confirmation import confirm
from moldau.cli.failures import Failure
from moldau.cli.options import complete_names, on_cluster
from moldau.cli.render.output import columns, output_option, print_data

ITERATIONS = 4096
MECHANISMS = {
    "SCRAM-SHA-256": ScramMechanism.SCRAM_SHA_256,
    "SCRAM-SHA-512": ScramMechanism.SCRAM_SHA_512,
}
NAMES = {mechanism: name for name, mechanism in MECHANISMS.items()}
Credentials = Mapping[str, Mapping[str, int]]
"""The iterations of each mechanism of each user."""


def complete_user(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return complete_names(ctx, incomplete, credentials)


@click.group("users")
def command() -> None:
    """Manage the users who log in with SCRAM.

    Users of PLAIN are in the settings of the brokers, those of OAUTHBEARER with the identity provider.
    """


@command.command("list")
@click.argument("pattern", default="*")
@output_option
@on_cluster
def list_command(cluster: Cluster, pattern: str, output: str) -> None:
    """List users and their mechanisms. PATTERN selects by name (`app-*`)."""
    found = {user: kept for user, kept in credentials(cluster).items() if fnmatchcase(user, pattern)}
    if output != "table":
        print_data(
            output,
            [
                {"user": user, "mechanism": mechanism, "iterations": iterations}
                for user, kept in found.items()
                for mechanism, iterations in kept.items()
            ],
        )
    elif found:
        rows = [
            (user, mechanism, iterations)
            for user, kept in found.items()
            for mechanism, iterations in kept.items()
        ]
        click.echo(columns(("USER", "MECHANISM", "ITERATIONS"), rows))
    else:
        click.echo("No users." if pattern == "*" else f"No user matches '{pattern}'.", err=True)


@command.command("add")
@click.argument("user", shell_complete=complete_user)
@click.option(
    "--mechanism",
    "mechanisms",
    type=click.Choice(list(MECHANISMS), case_sensitive=False),
    multiple=True,
    help="Repeatable. Default: both.",
)
@click.option(
    "--iterations",
    type=click.IntRange(4096, 16384),
    default=ITERATIONS,
    show_default=True,
    help="How much work it is to try a password.",
)
@click.option(
    "--password-file",
    type=click.File("rb"),
    help="A file with the password on its first line; - for the standard input. Default: the password is asked for.",
)
@on_cluster
def add(cluster: Cluster, user: str, mechanisms: Sequence[str], iterations: int, password_file: Any) -> None:
    """Add USER, or give it a new password."""
    password = _password(user, password_file)
    # A user is changed once in a request, so each mechanism has its own.
    for mechanism in mechanisms or tuple(MECHANISMS):
        info = ScramCredentialInfo(MECHANISMS[mechanism], iterations)
        _alter(
            cluster, user, UserScramCredentialUpsertion(user, info, password), f"set the password of '{user}'"
        )
    click.echo(f"User {user} can log in with {' and '.join(mechanisms or MECHANISMS)}.")


@command.command("remove")
@click.argument("user", shell_complete=complete_user)
@click.option(
    "--mechanism",
    "mechanisms",
    type=click.Choice(list(MECHANISMS), case_sensitive=False),
    multiple=True,
    help="Only this mechanism. Repeatable.",
)
@click.option("--yes", is_flag=True, help="Skip the question.")
@on_cluster
def remove(cluster: Cluster, user: str, mechanisms: Sequence[str], yes: bool) -> None:
    """Remove USER. Connections that are open stay open until their login ends."""
    kept = credentials(cluster).get(user, {})
    gone = [mechanism for mechanism in kept if not mechanisms or mechanism in mechanisms]
    if not gone:
        asked = f" for {' or '.join(mechanisms)}" if mechanisms else ""
        raise Failure(f"user '{user}' has no password{asked}.", "`moldau users list` lists all users.")
    if not yes:
        confirm(f"Remove {' and '.join(gone)} of user {user}?", "nothing was removed.")
    for mechanism in gone:
        deletion = UserScramCredentialDeletion(user, MECHANISMS[mechanism])
        _alter(cluster, user, deletion, f"remove {mechanism} of '{user}'")
    click.echo(f"User {user} can no longer log in with {' and '.join(gone)}.")


def credentials(cluster: Cluster) -> Credentials:
    asked = cluster.admin.describe_user_scram_credentials()
    assert not isinstance(asked, dict), "all users are one answer"
    found = cluster.wait(asked, "list users")
    return {
        user: {NAMES[info.mechanism]: info.iterations for info in described.scram_credential_infos}
        for user, described in sorted(found.items())
    }


def _alter(
    cluster: Cluster,
    user: str,
    alteration: UserScramCredentialUpsertion | UserScramCredentialDeletion,
    doing: str,
) -> None:
    futures = cluster.admin.alter_user_scram_credentials([alteration])
    cluster.wait(futures[user], doing)


def _password(user: str, file: Any) -> bytes:
    if file is not None:
        password: bytes = file.readline().rstrip(b"\r\n")
    elif sys.stdin.isatty():
        password = click.prompt(
            f"Password of {user}", hide_input=True, confirmation_prompt=True, err=True
        ).encode()
    else:
        raise Failure(
            "no password was given and there is nobody to ask.",
            "Pass --password-file FILE, or --password-file - to read the standard input.",
            KafkaError._INVALID_ARG,
        )
    if not password:
        raise Failure(f"the password of '{user}' is empty.", "Nothing was changed.")
    return password
