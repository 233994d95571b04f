"""`moldau topics`."""

from moldau.cli.commands.topics.create_topics import command

__all__ = ["command"]
