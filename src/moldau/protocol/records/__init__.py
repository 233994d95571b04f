"""Record batches (magic 2) and the records in them.

The produce and fetch paths use `batch.py` only; start there. The rest is for tools, coordinators and
compaction. Imported by the server column, the command line and the test kit.
"""
