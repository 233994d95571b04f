"""The `moldau` command: finds the subcommand, runs it, and turns errors into messages and exit codes.

A command's module is imported only when the command is used. `moldau --help` stays fast, and `moldau broker` keeps
the other commands out of its memory.
"""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from moldau import __version__

INTERRUPTED = 130


class Noun(click.Command):
    """A placeholder for a command. `load` imports the module that defines it as `command`."""

    def __init__(self, name: str, module: str, summary: str) -> None:
        super().__init__(name, short_help=summary)
        self._module = module

    def load(self) -> click.Command:
        command = import_module(f"moldau.cli.commands.{self._module}").command
        assert isinstance(command, click.Command)
        return command


class Platform(click.Group):
    """The root group: one `Noun` per command, listed in the order given."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        return name, command.load() if isinstance(command, Noun) else command, rest

    def invoke(self, ctx: click.Context) -> Any:
        try:
            outcome = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            # The reader (`head`, a pager) has closed the pipe. Discard what is still buffered, or the interpreter
            # would report an error at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        return outcome


platform = Platform(
    "moldau",
    help="Moldau, an event-streaming platform in one Python package.",
    epilog="Run `moldau COMMAND --help` for the options of a command.",
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    commands=[
        Noun("up", "up", "Start the whole platform on this machine."),
        Noun("broker", "broker", "Start a broker for Kafka clients."),
        Noun("registry", "registry", "Start a schema registry on any Kafka cluster."),
        Noun("rest", "rest", "Start a REST proxy in front of any Kafka cluster."),
        Noun("mqtt", "mqtt", "Start an MQTT proxy in front of any Kafka cluster."),
        Noun("zookeeper", "zookeeper", "Start a ZooKeeper, or open a shell in one."),
        Noun("cluster", "cluster", "Show the state of a cluster; start one on this machine."),
        Noun("topics", "topics", "Create, list, describe, alter and delete topics."),
        Noun("partitions", "partitions", "Move replicas between brokers; elect leaders."),
        Noun("configs", "configs", "Show and change settings of topics, brokers and groups."),
        Noun("acls", "acls", "Add, list and remove access rules."),
        Noun("roles", "roles", "Grant, list and revoke roles of users and groups."),
        Noun("certs", "certs", "Issue, renew, rotate and revoke certificates."),
        Noun("users", "users", "Add, list and remove users who log in with SCRAM."),
        Noun("api-keys", "api_keys", "Create, list and delete API keys: logins of service accounts."),
        Noun("quotas", "quotas", "List, set and remove quotas of users, clients and addresses."),
        Noun("tokens", "tokens", "Create, list, renew and end delegation tokens."),
        Noun("produce", "produce", "Write records to a topic."),
        Noun("consume", "consume", "Read records from a topic."),
        Noun("offsets", "offsets", "Show log start and end offsets, and offsets by time."),
        Noun("groups", "groups", "List, describe, reset and delete consumer groups."),
        Noun("schemas", "schemas", "Register, check, show and transfer schemas."),
        Noun("streams", "streams", "Run and manage Streams applications on Spark."),
        Noun("connect", "connect", "Run connectors on Spark; manage those of any Connect cluster."),
        Noun("mirror", "mirror", "Mirror topics between Kafka clusters, as MirrorMaker 2 does."),
        Noun("sql", "sql", "Query streams and tables; start a SQL server; test SQL."),
        Noun("transactions", "transactions", "List, describe and abort transactions."),
        Noun("explain", "explain", "Explain rebalances, offset changes, and who may do what."),
        Noun("log", "log", "Dump and verify log files."),
        Noun("perf", "perf", "Measure throughput and latency."),
        Noun("profile", "profile", "Store clusters by name."),
        Noun("completion", "completion", "Print the shell completion script."),
    ],
)
click.version_option(__version__, prog_name="moldau", message="%(prog)s %(version)s")(platform)


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit codes: 0 success, 1 failure, 2 wrong usage, 130 interrupted."""
    try:
        outcome = platform.main(args=arguments, prog_name="moldau", standalone_mode=False)
    except click.Abort:
        return INTERRUPTED
    except click.ClickException as failure:
        failure.show()
        if isinstance(failure, click.UsageError):
            _show_equivalent(sys.argv[1:] if arguments is None else arguments)
        return failure.exit_code
    return outcome if isinstance(outcome, int) else 0


def _show_equivalent(arguments: Sequence[str]) -> None:
    # Imported here because only failed commands need it.
    from moldau.cli.kafka_syntax import translated

    meant = translated(arguments)
    if meant is not None:
        click.echo(f"This is the syntax of Kafka's tools. The equivalent command is:\n  {meant}", err=True)
