"""Aggregates of streams and tables, with and without windows, and suppress. Start at `aggregates.py`."""
