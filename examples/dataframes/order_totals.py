"""A Spark job over topics: reads orders, sums them by customer, writes the sums to another topic.

    pip install 'moldau[spark]'                       # and Java 17 or newer
    moldau up
    python examples/dataframes/order_totals.py        # the address of another cluster as an argument

The batch is written in one Kafka transaction: readers of committed records see all of it or nothing.
"""

import sys

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import struct, sum

import moldau.spark

ORDERS = [("alice", 2.5), ("bob", 4.0), ("alice", 1.5)]


def write(rows: DataFrame, servers: str, topic: str) -> None:
    """One record for each row: `customer` is the key, all columns are the value, as JSON."""
    (
        rows.select(rows.customer.alias("key"), struct("*").alias("value"))
        .write.format("moldau")
        .mode("append")
        .option("bootstrap.servers", servers)
        .option("topic", topic)
        .option("value.format", "json")
        .save()
    )


def read(spark: SparkSession, servers: str, topic: str, columns: str) -> DataFrame:
    return (
        spark.read.format("moldau")
        .option("bootstrap.servers", servers)
        .option("subscribe", topic)
        .option("value.format", "json")
        .option("value.schema", columns)
        .load()
        .select("value.*")
    )


def run(spark: SparkSession, servers: str) -> None:
    moldau.spark.register(spark)
    write(spark.createDataFrame(ORDERS, "customer STRING, amount DOUBLE"), servers, "orders")
    orders = read(spark, servers, "orders", "customer STRING, amount DOUBLE")
    totals = orders.groupBy("customer").agg(sum("amount").alias("total"))
    write(totals, servers, "order-totals")
    read(spark, servers, "order-totals", "customer STRING, total DOUBLE").orderBy("customer").show()


if __name__ == "__main__":
    run(SparkSession.builder.getOrCreate(), sys.argv[1] if len(sys.argv) > 1 else "localhost:9092")
