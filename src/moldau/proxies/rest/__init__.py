"""The REST proxy: Confluent's REST Proxy API, v2 and v3, over any Kafka cluster. A client of Kafka.

`http/` turns requests into a `Call` and answers into HTTP; `v2/`, `v3/` and `extras/` have the handlers, each a table
of routes; `producing/` and `consuming/` own the clients of Kafka; `formats/` turns JSON into the bytes of records and
back; `pages/` describes the routes as OpenAPI. Start reading at `server.py`.
"""
