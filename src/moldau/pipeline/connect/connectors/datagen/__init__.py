"""Datagen: made-up records from an Avro schema, with the settings of Confluent's Datagen connector.

`source.py` is the connector, `samples.py` turns a schema into a function that draws values, `regex_texts.py` draws
texts that match a pattern, `quickstarts.py` has the schemas that can be asked for by name.
"""
