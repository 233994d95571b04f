"""What the proxy knows of a client, without sockets, clocks or Kafka: time is an argument. Pure.

messages.py       a message, and where in Kafka it stands
session.py        one session: subscriptions, packets in flight, positions; and its stored form. Start here
outgoing.py       the packets in flight to the client, QoS 1 and 2
subscriptions.py  which sessions want a message: a tree of filters
retained.py       the retained messages: a tree of names
"""
