"""Transactions on the side of the partition leader: membership, verification, markers and producer ids.

The coordinator itself is in `txn/` and `coordinator/`. Start with `txn_membership.py`. Imported by the
handlers, by `coordinator/` and by `hosting/`.
"""
