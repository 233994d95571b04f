"""`moldau api-keys`: one module per command, the keys of a cluster, and the topic with what people say about them.

Only `main.py` imports it. Start with `kept_keys.py`.
"""

import click

from moldau.cli.commands.api_keys.create_key import create
from moldau.cli.commands.api_keys.delete_keys import delete
from moldau.cli.commands.api_keys.list_keys import describe, list_keys


@click.group("api-keys")
def command() -> None:
    """Manage API keys: logins for programs, each under the account of a service.

    A key is a user of SCRAM with a secret that nobody else knows. Moldau's brokers take it with PLAIN too, know its
    client as User:ACCOUNT, and refuse it after its last day. Rules of access name the account, so that keys can be
    replaced one by one.
    """


for each in (create, list_keys, describe, delete):
    command.add_command(each)
