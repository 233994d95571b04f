"""`moldau topics`: one module per command, and what only these commands need.

Only `main.py` imports it. Start with `create_topics.py`.
"""

import click

from moldau.cli.commands.topics.alter_topics import alter
from moldau.cli.commands.topics.create_topics import create
from moldau.cli.commands.topics.delete_topics import delete, delete_records
from moldau.cli.commands.topics.describe_topics import describe
from moldau.cli.commands.topics.list_topics import list_topics


@click.group("topics")
def command() -> None:
    """Create, list, describe, alter and delete topics."""


for each in (create, list_topics, describe, alter, delete, delete_records):
    command.add_command(each)
