"""Clients of a Kafka cluster and of a schema registry, and the queries that several commands share.

Imported by `commands/`, `formats/`, `local/` and `options.py`. Start with `connection.py`, which wraps librdkafka;
`wire.py` sends the requests librdkafka cannot.
"""
