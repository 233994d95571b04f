"""Spark's Real-Time Mode: plans that run entirely in the JVM, with Spark's Kafka connector at both ends.

Imported by `application`; `session` imports `connectors`. Start at `real_time_query.py`.
"""
