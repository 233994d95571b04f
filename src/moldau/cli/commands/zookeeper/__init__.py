"""`moldau zookeeper`."""

from moldau.cli.commands.zookeeper.serve import command

__all__ = ["command"]
