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
    """Stands in the list of commands for a module that holds the real one as `command`."""

    def __init__(self, name: str, module: str, summary: str) -> None:
        super().__init__(name, short_help=summary)
        self._module = module

    def load(self) -> click.Command:
        command = import_module(f"moldau.cli.commands.{self._module}").command
        assert isinstance(command, click.Command)
        return command


class Platform(click.Group):
    """The root group: one `Noun` per command, in the order given."""

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
            # The reader (`head`, a pager) has all it wanted. What is still buffered goes nowhere, or the
            # interpreter would complain about it on its way out.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        return outcome


platform = Platform(
    "moldau",
    help="Moldau: the event-streaming platform as one Python package.",
    epilog="`moldau COMMAND --help` explains a command.",
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    commands=[
        Noun("up", "up", "Start the platform here: broker and schema registry."),
        Noun("broker", "broker", "Start a broker that Kafka clients talk to."),
        Noun("registry", "registry", "Start a schema registry on any Kafka cluster."),
        Noun("zookeeper", "zookeeper", "Start a ZooKeeper for brokers, or look into one."),
        Noun("cluster", "cluster", "Start a cluster on this machine, show the state of any."),
        Noun("topics", "topics", "Create, list, describe, alter and delete topics."),
        Noun("partitions", "partitions", "Move partitions between brokers, have leaders elected."),
        Noun("configs", "configs", "Show and change settings of topics, brokers and groups."),
        Noun("produce", "produce", "Write records to a topic."),
        Noun("consume", "consume", "Read records of a topic."),
        Noun("offsets", "offsets", "Show where logs begin and end, and the offsets of a time."),
        Noun("groups", "groups", "List, describe, reset and delete consumer groups."),
        Noun("schemas", "schemas", "Register, check, show and move schemas of a registry."),
        Noun("streams", "streams", "Run Streams applications on Spark."),
        Noun("transactions", "transactions", "List, describe and abort transactions."),
        Noun("explain", "explain", "Say why a group rebalanced, or where an offset went."),
        Noun("log", "log", "Dump and verify the files of logs."),
        Noun("perf", "perf", "Measure how fast records are written and read."),
        Noun("profile", "profile", "Keep clusters by name."),
        Noun("completion", "completion", "Print the completion script for a shell."),
    ],
)
click.version_option(__version__, prog_name="moldau", message="%(prog)s %(version)s")(platform)


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    try:
        outcome = platform.main(args=arguments, prog_name="moldau", standalone_mode=False)
    except click.Abort:
        return INTERRUPTED
    except click.ClickException as failure:
        failure.show()
        if isinstance(failure, click.UsageError):
            _show_what_was_meant(sys.argv[1:] if arguments is None else arguments)
        return failure.exit_code
    return outcome if isinstance(outcome, int) else 0


def _show_what_was_meant(arguments: Sequence[str]) -> None:
    # Not above: a command that was typed well needs none of it.
    from moldau.cli.kafka_syntax import translated

    meant = translated(arguments)
    if meant is not None:
        click.echo(f"Those are words of Kafka's tools. Here it is:\n  {meant}", err=True)
