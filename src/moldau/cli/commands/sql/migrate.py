"""`moldau sql migrate`: changes of a server's streams and tables as numbered files, each applied once."""

import click


@click.group("migrate")
def migrate() -> None:
    """Apply numbered files of statements, each once."""
