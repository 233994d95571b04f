"""Handlers of groups and committed offsets; they ask `coordinator/`. Only `handlers` imports them."""
