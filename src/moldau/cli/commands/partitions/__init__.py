"""`moldau partitions`: replica reassignment and leader election.

Only `main.py` imports it. Start with `reassign.py`; plans are in `move_plans.py`, throttles in `throttles.py`.
"""

import click

from moldau.cli.commands.partitions.elect import elect
from moldau.cli.commands.partitions.reassign import reassign


@click.group("partitions")
def command() -> None:
    """Move replicas between brokers and elect partition leaders."""


for each in (reassign, elect):
    command.add_command(each)
