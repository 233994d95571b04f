"""The HTTP interface of the driver process. Imported by `driver/__main__.py`; start at `status_http.py`."""
