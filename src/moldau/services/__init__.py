"""What every HTTP service of the platform needs, written once: settings files, options of the start command, the
listening socket, and a uvicorn server with limits that ends cleanly on signals.

Imports nothing of ours but core and security. Start reading at `http_server.py`.
"""
