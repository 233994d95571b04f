"""`moldau groups`: commands on consumer groups and their offsets.

Only `main.py` imports it. Start with `describe_groups.py`; `reset_offsets.py` is the largest command.
"""

import click

from moldau.cli.commands.groups.delete_groups import delete
from moldau.cli.commands.groups.delete_offsets import delete_offsets
from moldau.cli.commands.groups.describe_groups import describe, list_command, members, offsets
from moldau.cli.commands.groups.reset_offsets import reset


@click.group("groups")
def command() -> None:
    """List, describe, reset and delete consumer groups.

    Lag is measured to the last stable offset, because consumers cannot read past an open transaction.
    Lag in bytes is an estimate: the log's size on disk times the unread share of its offsets. Lag in time
    is how long the next record has been waiting.
    """


for each in (list_command, describe, members, offsets, reset, delete, delete_offsets):
    command.add_command(each)
