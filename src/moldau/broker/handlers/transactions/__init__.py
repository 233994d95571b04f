"""Handlers of transactions and producer ids; they ask `coordinator/`. Only `handlers` imports them."""
