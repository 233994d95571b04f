"""Data pipelines over Kafka topics.

`plan` describes a pipeline, `streams` is the API that builds a plan, `operators` defines what each node of a plan does,
`serdes` read and write keys and values, and `spark` runs a plan on Spark. `views` serves the stores of a running
pipeline over HTTP. `lifecycle` has the states and the metrics of a pipeline. `code` compiles expressions to Python
functions. `sql` analyses SQL statements; it does not run them yet.

Pipelines talk to brokers through the Kafka protocol only. Imported by the command line, the test kit and
`moldau.spark`. Start reading at `plan/topology.py`, then `operators/task.py`.
"""
