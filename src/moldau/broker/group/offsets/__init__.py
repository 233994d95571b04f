"""Committed offsets: commits, queries, removal and retention, for all kinds of groups.

`offsets` stores them; start with `commits`. Imported by the machine; `replies` also by the handlers, before
any group is loaded.
"""
