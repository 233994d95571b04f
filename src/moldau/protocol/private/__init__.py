"""Private APIs of Moldau in addition to Kafka's. They are not advertised: only our own tools use them, and report it
when a broker does not serve them.

Imported by the broker's handlers and the command line.
"""
