"""Converters: between the bytes of records and the values connectors see. Start reading with `converter.py`.

`catalog.py` has them by name. Those in `registry/` need a schema registry when they run.
"""
