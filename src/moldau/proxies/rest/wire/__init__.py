"""What Kafka's client library cannot ask a cluster: reassignments, and settings of all brokers together.

Only `cluster.py` of the proxy imports this package. Start reading at `questions.py`.

    primitives.py   the encoding of Kafka's flexible versions, as far as these questions need it
    questions.py    the questions: one request and one answer each. Pure
    connection.py   a connection to a broker that asks one of them, with TLS and a login as the clients have
"""
