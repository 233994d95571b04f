"""The checkpoint folder of an application: its record, its owner and the state of its tasks.

The plans of its batches lie there too, see `planning/ledger.py`. Imported by the driver and the workers. Start at
`application_record.py` and `state_files.py`.
"""
