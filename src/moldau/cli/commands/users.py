"""`moldau users`: the users of a cluster who log in with SCRAM.

A password is asked for, or read from a file or the standard input. It is no option: the command line of a process is
no secret. What is sent to the broker is the salted password.
"""

import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

import click
from confluent_kafka import KafkaError

from moldau.cli.client.connection import Cluster
from moldau.cli.client.scram_queries import find_credentials, remove_password, set_password
from moldau.cli.confirmation import confirm
from moldau.cli.failures import Failure
from moldau.cli.options import complete_names, on_cluster
from moldau.cli.render.output import columns, output_option, print_data
from moldau.security.credentials.scram_credential import ITERATIONS_MAX, ITERATIONS_MIN, MECHANISMS


class UserName(click.ParamType[str]):
    """Any text but an empty one."""

    name = "user"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not value:
            self.fail("the name of a user is not empty.", param, ctx)
        return str(value)


def complete_user(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return complete_names(ctx, incomplete, find_credentials)


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
    found = {user: kept for user, kept in find_credentials(cluster).items() if fnmatchcase(user, pattern)}
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
@click.argument("user", type=UserName(), shell_complete=complete_user)
@click.option(
    "--mechanism",
    "mechanisms",
    type=click.Choice(list(MECHANISMS), case_sensitive=False),
    multiple=True,
    help="Repeatable. Default: both.",
)
@click.option(
    "--iterations",
    type=click.IntRange(ITERATIONS_MIN, ITERATIONS_MAX),
    default=ITERATIONS_MIN,
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
    for mechanism in mechanisms or tuple(MECHANISMS):
        set_password(cluster, user, mechanism, password, iterations, f"set the password of '{user}'")
    click.echo(f"User {user} can log in with {' and '.join(mechanisms or MECHANISMS)}.")


@command.command("remove")
@click.argument("user", type=UserName(), shell_complete=complete_user)
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
    kept = find_credentials(cluster).get(user, {})
    gone = [mechanism for mechanism in kept if not mechanisms or mechanism in mechanisms]
    if not gone:
        asked = f" for {' or '.join(mechanisms)}" if mechanisms else ""
        raise Failure(f"user '{user}' has no password{asked}.", "`moldau users list` lists all users.")
    if not yes:
        confirm(f"Remove {' and '.join(gone)} of user {user}?", "nothing was removed.")
    for mechanism in gone:
        remove_password(cluster, user, mechanism, f"remove {mechanism} of '{user}'")
    click.echo(f"User {user} can no longer log in with {' and '.join(gone)}.")


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
