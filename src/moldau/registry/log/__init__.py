"""The `_schemas` topic, and which instance may write to it. `service.py` is the only user. Start at `schema_log.py`.

records.py        the records, as Confluent's registry writes them, to facts and back (pure; the state uses it too)
schema_log.py     reads the topic and replays it
schema_writer.py  writes to it, fenced by a transactional id
election.py       elects the primary
"""
