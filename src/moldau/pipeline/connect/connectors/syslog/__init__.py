"""SyslogSource: listens for syslog messages over UDP, TCP or TLS; with the settings of Confluent's connector.

`messages.py` reads RFC 5424 and RFC 3164, `cef.py` the Common Event Format inside of them, `frames.py` splits streams
(RFC 6587): all of that is pure. `listener.py` has the sockets. Start reading with `source.py`.
"""
