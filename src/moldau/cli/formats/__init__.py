"""Records in the formats of a schema registry: Avro, Protobuf and JSON Schema, as JSON to people."""
