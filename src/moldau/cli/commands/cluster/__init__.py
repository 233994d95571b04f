"""`moldau cluster`."""

from moldau.cli.commands.cluster.status import command

__all__ = ["command"]
