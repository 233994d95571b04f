"""The processing log: a topic, and a stream over it, with every record and expression of a query that failed.

`entries.py` makes its records, `failure_log.py` writes failed expressions from any process, `failed_records.py` copies
what the driver could not read, `upkeep.py` has all of it for the service. Start reading there.
"""
