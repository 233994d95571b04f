"""`moldau cluster`: state of any cluster, and a cluster of local processes.

Only `main.py` imports it. Start with `status.py`. The processes are managed in `moldau.cli.local`.
"""

import click

from moldau.cli.commands.cluster.list_brokers import brokers
from moldau.cli.commands.cluster.status import status
from moldau.cli.commands.cluster.stop_broker import start_broker, stop_broker
from moldau.cli.commands.cluster.up_cluster import up


@click.group("cluster")
def command() -> None:
    """Show the state of a cluster and its brokers; start a cluster on this machine."""


for each in (status, brokers, up, start_broker, stop_broker):
    command.add_command(each)
