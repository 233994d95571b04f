"""The command topic: every statement that changes what is defined, in the order all servers agree on.

`command_topic.py` creates, reads and replays it, `command_writer.py` appends to it. Imported by the service.
"""
