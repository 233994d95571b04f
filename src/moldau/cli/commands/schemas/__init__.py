"""`moldau schemas`: commands on the schemas of a registry.

Only `main.py` imports it. Start with `register_schemas.py`. The HTTP client is `moldau.cli.client.registry_http`.
"""

import click

from moldau.cli.commands.schemas.delete_schemas import delete
from moldau.cli.commands.schemas.register_schemas import check, evolve, register
from moldau.cli.commands.schemas.schema_config import show_config
from moldau.cli.commands.schemas.schema_transfer import export_schemas, import_schemas
from moldau.cli.commands.schemas.show_schemas import list_schemas, show


@click.group("schemas")
def command() -> None:
    """Manage the schemas of any registry that speaks Confluent's REST API."""


for each in (
    list_schemas,
    show,
    register,
    check,
    evolve,
    delete,
    show_config,
    export_schemas,
    import_schemas,
):
    command.add_command(each)
