"""`moldau schemas`."""

from moldau.cli.commands.schemas.register_schemas import command

__all__ = ["command"]
