"""MqttSource and MqttSink, with the settings of Confluent's connectors of these names.

`inbox.py` says what has been received, written and acknowledged, without I/O; `connection.py` is the only module that
talks to a server. Start reading with `source.py` and `sink.py`.
"""
