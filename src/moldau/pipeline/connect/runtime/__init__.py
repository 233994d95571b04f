"""What tasks of connectors need wherever they run: the plan of a connector, its settings, its offsets, its secrets.

No Spark here: `pipeline/spark/connectors` runs the tasks. The server of a worker uses the same modules. Start reading
with `plan.py`.
"""
