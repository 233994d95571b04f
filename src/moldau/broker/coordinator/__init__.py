"""Runs the coordinators: one shard for each partition of an internal topic that this broker leads.

Start with `router`, where requests come in. `shards` owns the shards and their elections, `runner` drives a
machine over its `log`, and `group_shard` and `txn_shard` connect it with the machines of `group/` and `txn/`.
Imported by the handlers and by the code that assembles a broker; the two adapters are imported only once
there is a group or a transaction.
"""
