"""Connectors: data in and out of Kafka, with Kafka Connect's API, settings and formats.

From bottom to top: `data` (schemas and values), `declarations` (what a plugin can be configured with), `api` (what a
connector's author writes), `converters`, `transforms`, `connectors` (those that come with the platform), `plugins`
(finding all of these by name), `runtime` (what a task does with a batch of records) and `server` (the worker: REST API,
stored configurations, who runs what). `pipeline/spark/connectors` runs the tasks on Spark. Start reading with `api.py`.
"""
