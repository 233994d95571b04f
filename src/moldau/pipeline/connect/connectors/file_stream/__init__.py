"""FileStreamSource and FileStreamSink, with the settings and the offsets of Kafka's connectors of these names."""
