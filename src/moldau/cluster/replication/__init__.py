"""Replication of one partition as pure machines: the ISR, the high watermark, truncation, fetch sessions, throttles.

Used by the modules of `cluster`. Start reading with `in_sync` for the leader and `follower_step` for a follower.
"""
