"""Handlers that describe and change configuration, over `broker/configs/`. Only `handlers` imports them."""
