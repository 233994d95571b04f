"""The process around SQL: ksqlDB's REST API, the command topic, and the Spark driver that hosts persistent queries.

`server.py` starts and stops everything, `service.py` is what requests are made to, `execution.py` executes statements.
`commands/` reads and writes the command topic, `hosting/` decides which queries run here and keeps the driver process
at it, `processing_log/` records what fails, `http/` answers requests. A client of Kafka; never imports pyspark. Start
reading at `service.py`.
"""
