"""`moldau connect`: the worker, and commands on the connectors of any Connect cluster.

Only `main.py` imports it. `worker.py` starts a worker; the other modules talk to one over HTTP.
"""

import click

from moldau.cli.commands.connect.worker import command as worker


@click.group("connect")
def command() -> None:
    """Run connectors, and manage those of any Connect cluster."""


for each in (worker,):
    command.add_command(each)
