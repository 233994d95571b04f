"""`moldau partitions`."""

from moldau.cli.commands.partitions.reassign import command

__all__ = ["command"]
