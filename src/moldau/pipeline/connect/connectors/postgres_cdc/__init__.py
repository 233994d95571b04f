"""PostgresCdcSource: each change of a PostgreSQL table becomes a record, in the envelope of Debezium's connector.

Its settings and offsets are those of Debezium, too.

`pgoutput.py` reads the messages of logical decoding, `positions.py` says which of them have been written before,
`types/` turns PostgreSQL's texts into Connect's values, and `tables.py` makes keys, values and envelopes: all of that
is pure. `replication.py`, `database.py` and `snapshot.py` talk to the server. Start reading with `source.py`.
"""
