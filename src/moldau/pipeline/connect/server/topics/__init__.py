"""The internal topics of a group of workers: created, read as long as the worker runs, and written.

`compacted_topic.py` reads one, `config_log.py` and `status_log.py` are the two a worker keeps; `offsets_admin.py` looks
at offsets and changes them. All calls block.
"""
