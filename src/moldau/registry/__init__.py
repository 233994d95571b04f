"""The schema registry: Confluent's REST API over Confluent's `_schemas` topic, on any Kafka.

A client like any other: it talks to brokers by the Kafka protocol alone and never imports the server column.
"""
