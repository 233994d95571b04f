"""The logs on this broker: which partitions are hosted, in which directory, and when they are flushed.

Start with `hosted_partitions.py`. Imported by everything that reads or writes logs, and by `cluster/`.
"""
