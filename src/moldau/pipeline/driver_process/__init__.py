"""The process that runs Spark, seen from its parent: start it, read its status lines, supervise it, send it requests.

Imported by `moldau streams run`, by the SQL server and by the worker of Connect, which keep it at what they want with
`driver_host.py`. Needs no pyspark: only the child process imports it. Start reading at `process.py`.
"""
