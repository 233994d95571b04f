"""`moldau connect`: the worker, and commands on the connectors of any Connect cluster.

Only `main.py` imports it. `worker.py` starts a worker; the other modules talk to one through `connect_http.py`.
"""

import click

from moldau.cli.commands.connect.change_connectors import create, edit, validate
from moldau.cli.commands.connect.control_connectors import delete, offsets, pause, restart, resume, stop
from moldau.cli.commands.connect.show_connectors import list_connectors, plugins, show
from moldau.cli.commands.connect.worker import command as worker


@click.group("connect")
def command() -> None:
    """Run connectors on Spark, and manage those of any Connect cluster."""


for each in (
    worker,
    list_connectors,
    show,
    create,
    edit,
    pause,
    resume,
    stop,
    restart,
    delete,
    offsets,
    plugins,
    validate,
):
    command.add_command(each)
