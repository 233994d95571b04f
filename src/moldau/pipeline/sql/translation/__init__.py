"""From the plan of a query to a `plan.Topology`: each step is one of the Streams API's.

`row` holds the functions of rows and groups that travel with the topology, `query` puts the steps together. Imported
by what runs queries. Start reading at `query.py`.
"""
