"""The data source "moldau": the reader or writer for each request of Spark."""

from pyspark.sql.datasource import DataSource
from pyspark.sql.types import StructType

from moldau.core.errors import ConfigError
from moldau.spark.columns import RowLayout
from moldau.spark.options import SinkOptions, SourceOptions
from moldau.spark.readers import BatchReader, StreamReader
from moldau.spark.writers import BatchWriter, StreamWriter


class MoldauDataSource(DataSource):
    """Spark creates one in a process of the driver, asks it for the schema and pickles it for the next step."""

    _layout: RowLayout | None = None

    @classmethod
    def name(cls) -> str:
        return "moldau"

    def schema(self) -> StructType | str:
        # Kept, because a subject's newest schema must not change before the data is read.
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
