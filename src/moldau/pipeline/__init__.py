"""Data pipelines: one description (`plan`), one meaning of each operator (`operators`), hosted by Spark (`spark`).

The Streams API (`streams`) builds a plan; SQL and connectors are to do the same. Talks to brokers through the Kafka
protocol only. Start reading at `plan/topology.py`.
"""
