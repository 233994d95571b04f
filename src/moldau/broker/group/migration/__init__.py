"""Groups between the protocols (KIP-848): upgrade, downgrade, and classic members in a consumer group.

Both protocols come here when a group has members of both, or is about to change its kind.
"""
