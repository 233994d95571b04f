"""Handlers that read, write or describe partition logs: Produce, Fetch, offsets, producers, log directories.

Only `handlers` imports them.
"""
