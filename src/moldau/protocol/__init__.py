"""Kafka's wire protocol: messages, headers, record batches, and the records of internal topics. Pure.

Imported by the server column, the command line and the test kit; it imports `core/` only. Start with
`spec.py` (how a message is declared) and `codec.py` (bytes to messages and back). `messages/` has the APIs,
`records/` the record batches, `stored/` the records of internal topics, and `fast/` the hand-tuned codecs of
Produce and Fetch.
"""
