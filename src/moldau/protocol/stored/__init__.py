"""Record keys and values of Kafka's internal topics, and the bytes consumers hand each other through a group.

Each module declares one family with `protocol/spec.py`; `framing` turns a declared record into key and value bytes.
"""
