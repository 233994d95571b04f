"""`moldau transactions`."""

from moldau.cli.commands.transactions.describe_transactions import command

__all__ = ["command"]
