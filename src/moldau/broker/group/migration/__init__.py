"""Groups between the two protocols (KIP-848): upgrade, downgrade, and classic members in a consumer group.

Imported by `classic/` and `consumer/` for groups that have members of both protocols or change their kind.
Start with `upgrade`.
"""
