"""Materialised views: the current content of state stores, read from their committed changelogs and served over HTTP.

Knows changelog topics and serdes, but not Spark. Imported by `spark`. Start reading at `view_host.py`.
"""
