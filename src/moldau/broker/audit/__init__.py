"""The audit stream: logins, denials and administrative changes, written to the topic `_moldau_audit`.

Start with `audit_stream.py`. Imported by `request/`, which reports to it, and by `node/`, which makes it.
"""
