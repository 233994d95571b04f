"""JdbcSource and JdbcSink, with the settings, types and offsets of Confluent's connectors of these names.

There is no JDBC here: the URL says which database it is, and Python's driver for it is used. `dialects` has the SQL
texts and the types of each database, without I/O; `drivers` has the connections. Start reading with `source.py` and
`sink.py`.
"""
