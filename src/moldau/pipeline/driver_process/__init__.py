"""The process that runs Spark, seen from its parent: start it, read its status lines, supervise it, send it requests.

Imported by `moldau streams run` and by the SQL server. Needs no pyspark: only the child process imports it. Start
reading at `process.py`.
"""
