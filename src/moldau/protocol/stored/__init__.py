"""Record keys and values of Kafka's internal topics, and the bytes that consumers exchange through a group.

Each module declares one family of records with `protocol/spec.py`; start with `framing`, which converts a
declared record to key and value bytes. Imported by the coordinators, by `node/`, and by the tools that print
internal topics.
"""
