"""The MQTT proxy as a process, with foreign clients and with packets of our own."""
