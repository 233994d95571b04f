"""Delegation tokens: those of the cluster in memory and in the coordination store.

Used by the handlers of the token APIs and, for logins by token, by `security.sasl`. Start with `delegation_tokens`.
"""
