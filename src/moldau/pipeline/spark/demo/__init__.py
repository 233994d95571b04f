"""The demo pipeline of `moldau up`: page views, enriched and counted. A Streams application like any other.

`app.py` is the application, `page_views.py` produces its input. Started by the command line; nothing imports it.
"""
