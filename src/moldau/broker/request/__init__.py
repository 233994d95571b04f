"""From a frame to a handler and back: the session of a client, the table of APIs, cached answers.

Start with `client_session.py`. Imported by the handlers, by the parts that answer clients later (fetches,
coordinators), and by `node/`.
"""
