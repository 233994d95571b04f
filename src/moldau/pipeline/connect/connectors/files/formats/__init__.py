"""The formats of files: what writes records to a stream and reads them back. `file_format.py` has the contract."""
