"""`moldau transactions`: open transactions, the producers behind them, and how to end them.

Only `main.py` imports it. Start with `describe_transactions.py`.
"""

import click

from moldau.cli.commands.transactions.abort import abort
from moldau.cli.commands.transactions.describe_transactions import describe, list_command
from moldau.cli.commands.transactions.producers import producers


@click.group("transactions")
def command() -> None:
    """Inspect transactions and the producers behind them; abort hanging ones.

    A read_committed consumer reads up to the last stable offset: the first record of the oldest open
    transaction in the partition.
    """


for each in (list_command, describe, producers, abort):
    command.add_command(each)
