"""Runs plans on Spark. Only this package and `moldau.spark` import pyspark.

The driver plans batches as ranges of offsets and writes each plan to the checkpoint. Spark's workers read the ranges,
run the tasks of the plan and commit the output in one Kafka transaction.

Programs import `application` (`PipelineApp`), `settings` (`AppSettings`) and `session` (`SparkSettings`). Inside:
`driver` runs batches and hosts applications, `planning` decides what a batch reads, `worker` runs tasks in Spark's
Python workers, `checkpoint` is the folder of an application, `upgrades` changes it when a topology has changed,
`connect` is for Spark Connect servers and `real_time` for Real-Time Mode. The other modules here are shared by driver
and workers. Start reading at `driver/query.py`, then `worker/slot.py`.
"""
