"""The coordinators at work: one shard for each partition of an internal topic that this broker leads.

Start at `router`, where requests come in. `shards` has the shards and their elections, `runner` drives a machine over its
`log`, and `group_shard` and `txn_shard` fit the machines of `group/` and `txn/` in. Imported by the handlers and by
whatever puts a broker together; the two shards only when the first group or transaction is there.
"""
