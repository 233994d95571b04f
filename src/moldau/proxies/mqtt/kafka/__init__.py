"""The proxy's side towards Kafka. Nothing here knows a packet.

publisher.py    records of QoS 0 and 1: an idempotent producer that runs on the event loop
state_log.py    the state of sessions, in transactions together with records of QoS 2. Start here
stored.py       what the state topic holds: keys and values (pure)
live_reader.py  reads the topics at their end, for all who are subscribed
partitions.py   a consumer on a thread of its own; the partitions that there are
catch_up.py     reads what one session has missed
group_reader.py a consumer in a group, for shared subscriptions
backlog.py      how much is on its way to Kafka, and when to stop reading from clients
topics.py       creates topics
"""
