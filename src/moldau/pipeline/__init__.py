"""Data pipelines: one description (`plan`), one meaning of each operator (`operators`), hosted by Spark.

SQL, the Streams API and connectors all build a plan. Talks to brokers through the Kafka protocol only.
"""
