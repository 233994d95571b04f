"""The columns of a record in the DataFrames of `transform`, both in the argument (`incoming.py`) and in the result
(`outgoing.py`) of the function.

The types follow the stream's serdes, by the names of `moldau.spark`'s formats: a string is STRING, a long is LONG,
JSON is STRING (its text), anything else is BINARY, as it lies in the topic. With a schema the fields of the value are
columns of their own. `_order` is the place of the record among all that the batch reads.
"""

from typing import Final

from pyspark.sql.types import ArrayType, BinaryType, DataType, StringType, StructType

from moldau.pipeline.serdes.serde import Serde
from moldau.pipeline.spark.row_values import PLAIN

KEY: Final = "key"
VALUE: Final = "value"
TIMESTAMP: Final = "timestamp"
HEADERS: Final = "headers"
ORDER: Final = "_order"
RESERVED: Final = (KEY, TIMESTAMP, HEADERS, ORDER)
HEADERS_TYPE: Final = ArrayType(StructType().add("key", StringType()).add("value", BinaryType()))
HEADER_WORDS: Final = "array<struct<key:string,value:binary>>"


def column_type(serde: Serde) -> DataType:
    if serde.name in PLAIN:
        return PLAIN[serde.name][0]
    return StringType() if serde.name == "json" else BinaryType()
