"""Sockets: listeners, client connections, frames, and connections to other brokers. Knows bytes, not their meaning.

Imports `core` alone; only `node` imports it. Start reading with `listener`, then `connection`.
"""
