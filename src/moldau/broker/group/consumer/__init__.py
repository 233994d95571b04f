"""The consumer group protocol (KIP-848): one heartbeat API, and the broker assigns partitions.

Start with `consumer_heartbeat`. `consumer_group` is the group as a value, `consumer_evolution` applies one fact to it,
`assignors` compute the assignment. Imported by the machine and by `migration`.
"""
