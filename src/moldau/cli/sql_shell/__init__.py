"""The SQL shell, a client of the REST API of ksqlDB: our SQL server, or any ksqlDB server.

`statements.py` cuts text into statements, `sql_server.py` is the HTTP client, `session.py` runs one statement,
`entities/` renders the server's answers, `grid.py` lays tables out. `terminal.py` is the only module that needs
prompt_toolkit. Commands import it when they run. Start with `session.py`.
"""
