"""MQTT's packets, 3.1.1 and 5.0, in both directions: bytes to frozen data and back. Pure.

    framing.py      cuts a stream of bytes into packets; incremental, with a limit
    decoding.py     the body of one packet to data. Start here
    encoding.py     data to bytes
    packets.py      the packets as data
    properties.py   the properties of 5.0: their types, and where they may stand
    reason_codes.py the reason codes of 5.0, and the return codes of 3.1.1
    topics.py       topic names and filters: what is valid, what matches
    primitives.py   integers, strings and binary data

Whatever the bytes are, the outcome is a packet or a `MalformedPacket`.
"""
