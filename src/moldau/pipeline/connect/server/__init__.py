"""The worker process of Connect: Kafka Connect's REST API, the topics that keep its state, and the driver process that
runs the tasks.

`worker.py` starts and stops everything, `service.py` is what requests are made to. `state/` is what the topics say,
pure; `topics/` reads and writes them. `hosting/` decides what runs on this worker, runs connectors in threads and keeps
the driver process at the tasks. `checks/` validates configurations, `http/` answers requests. A client of Kafka; never
imports pyspark. Start reading at `service.py`.
"""
