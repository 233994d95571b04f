"""Aggregates of streams and tables, with and without windows."""
