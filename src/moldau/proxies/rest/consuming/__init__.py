"""Reads records: consumer instances that clients create, and reads without one.

`instance.py` is one consumer with the positions its client has seen; `instances.py` finds and expires them.
"""
