"""HTTPS and logins of every HTTP service: its settings, the TLS context of its listener, and who a request is from.

Start reading at `guard.py`.
"""
