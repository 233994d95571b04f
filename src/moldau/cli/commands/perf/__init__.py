"""`moldau perf`."""

from moldau.cli.commands.perf.perf_produce import command

__all__ = ["command"]
