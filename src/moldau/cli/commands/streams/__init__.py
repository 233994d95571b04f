"""`moldau streams`."""

from moldau.cli.commands.streams.run import command

__all__ = ["command"]
