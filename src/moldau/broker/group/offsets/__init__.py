"""Committed offsets: commits, queries, removals and retention, whatever the kind of their group.

`offsets` keeps them. Imported by the machine; `replies` also by the handlers, before any group is loaded.
"""
