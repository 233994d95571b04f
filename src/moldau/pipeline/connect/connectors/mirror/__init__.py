"""MirrorMaker 2's connectors: topics of one Kafka cluster, their settings and their consumer groups, in another one.

`source.py` has the connectors. Their tasks: `record_task.py` copies records, `checkpoint_task.py` translates committed
offsets, `heartbeat_task.py` proves that a flow is alive. `mirrored_topics.py` keeps topics, their settings and ACLs in
step. Pure: `replication_policy.py` and `filters.py` (names), `formats.py` (MirrorMaker's records), `sync_schedule.py`,
`offset_translation.py` and `group_checkpoints.py` (offsets), `flows.py` (the file of `moldau mirror`).
"""
