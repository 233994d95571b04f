"""Which persistent queries run here, and the driver process that runs them.

`membership.py` elects the server that hosts the queries, `applications.py` makes files of them and keeps the driver at
what the catalog says. Imported by the service.
"""
