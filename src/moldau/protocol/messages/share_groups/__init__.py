"""APIs of share groups (KIP-932). Anything may import them.

Moldau serves none of them yet. They are declared so that messages of other brokers and clients can
be decoded.
"""
