"""The schema registry: Confluent's REST API over Confluent's `_schemas` topic, on any Kafka cluster.

    service.py    one instance without HTTP. Start here
    decisions/    what a request changes, as facts to write (pure)
    state.py      everything the registry knows; only `replay` changes it
    log/          the `_schemas` topic: its records, reader, writer, and the election of the primary
    schemas/      Avro, JSON Schema and Protobuf: parsing, canonical text, compatibility (pure)
    http/         the REST API
    server.py     an instance with HTTP; `settings.py` its configuration

The registry is a client of Kafka: it talks to brokers only by the Kafka protocol and never imports the server column.
The CLI and the test kit start it, and the CLI uses `schemas`; everything else reaches it over HTTP.
"""
