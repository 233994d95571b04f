"""Runs a plan on Spark: each application is one Structured Streaming query. The only package that imports pyspark.

Spark plans the batches, keeps their offsets in the checkpoint and spreads the work over its workers; a worker reads its
ranges of offsets, runs the tasks of the plan over them and writes what comes out in one Kafka transaction.
"""
