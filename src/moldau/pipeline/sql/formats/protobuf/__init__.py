"""PROTOBUF and PROTOBUF_NOSR: messages of columns, columns of messages, and rows as messages. Pure.

Start at `rows.py`. A schema is the Base64 of a file's descriptor, as the registry gives it with `format=serialized`.
"""
