"""The data source "moldau" as Spark sees it: which reader or writer serves which request."""

from pyspark.sql.datasource import DataSource
from pyspark.sql.types import StructType

from moldau.core.errors import ConfigError
from moldau.spark.columns import RowLayout
from moldau.spark.options import SinkOptions, SourceOptions
from moldau.spark.readers import BatchReader, StreamReader
from moldau.spark.writers import BatchWriter, StreamWriter


class MoldauDataSource(DataSource):
    """Spark makes one in a process of the driver, asks it for the schema and sends it on, pickled."""

    _layout: RowLayout | None = None

    @classmethod
    def name(cls) -> str:
        return "moldau"

    def schema(self) -> StructType | str:
        # Kept: a subject's newest schema must not change between this answer and the reading.
        self._layout = RowLayout.of(SourceOptions.parse(self.options))
        return self._layout.declared

    def reader(self, schema: StructType) -> BatchReader:
        return BatchReader(*self._source(schema))

    def streamReader(self, schema: StructType) -> StreamReader:
        return StreamReader(*self._source(schema))

    def writer(self, schema: StructType, overwrite: bool) -> BatchWriter:
        if overwrite:
            raise ConfigError("a topic cannot be overwritten, only appended to: .mode('append')")
        return BatchWriter(SinkOptions.parse(self.options), schema)

    def streamWriter(self, schema: StructType, overwrite: bool) -> StreamWriter:
        return StreamWriter(SinkOptions.parse(self.options), schema)

    def _source(self, schema: StructType) -> tuple[SourceOptions, RowLayout]:
        source = SourceOptions.parse(self.options)
        return source, (self._layout or RowLayout.of(source)).understood(schema)
