"""`moldau streams`: run and manage Streams applications.

Only `main.py` imports it. Start with `run.py`. The process that runs Spark is managed by
`moldau.cli.local.streams_driver`.
"""

import click

from moldau.cli.commands.streams.application_status import list_command, status_command
from moldau.cli.commands.streams.describe_topology import describe
from moldau.cli.commands.streams.plan import plan_command
from moldau.cli.commands.streams.reset_application import reset_command
from moldau.cli.commands.streams.run import run


@click.group("streams")
def command() -> None:
    """Run and manage Streams applications on Spark.

    An application is a Python file that defines a StreamsBuilder, or a function build() that returns one.
    """


for each in (run, describe, plan_command, list_command, status_command, reset_command):
    command.add_command(each)
