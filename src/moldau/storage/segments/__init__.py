"""Segments: the `.log` file, its three indexes, and the list of a log's segments. Start at `segment.py`.

For `log`, `producers` and `cleaner` only, apart from `batch_scan` (reading batches from a file) and `RetiredSegment`.
"""
