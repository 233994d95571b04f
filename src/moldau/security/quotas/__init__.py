"""Quotas of users and clients: which limit is in force for whom, what was used of it, how long to wait. Pure.

Apache Kafka's quotas are the reference: their keys, their precedence, their windows. Start with `client_quotas.py`.
"""
