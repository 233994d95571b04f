"""Handlers of topics and their partitions: metadata, creation, deletion, elections, reassignments.

Only `handlers` imports them.
"""
