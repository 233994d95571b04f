"""Materialised views: the present content of state stores, fed from their committed changelogs, served by key.

Knows changelog topics and serdes; knows nothing of Spark.
"""
