"""`moldau groups`."""

from moldau.cli.commands.groups.describe_groups import command

__all__ = ["command"]
