"""Handlers about the cluster as a whole: API versions, brokers, client telemetry. Only `handlers` imports
them.
"""
