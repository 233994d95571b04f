"""The transaction coordinator as a pure machine: `machine.TxnMachine` decides, replays and explains.

Nothing here uses a clock, disk, socket or random numbers: time and new producer ids are arguments; records,
answers and markers for partition leaders are return values (`core/machine.py`, `markers.py`). Start with
`machine.py`. Imported by `coordinator/`, `transactions/` and the handlers of transactions.
"""
