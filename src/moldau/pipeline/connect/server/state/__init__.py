"""What the internal topics say: records in Kafka Connect's formats, and the state that replaying them gives. Pure.

`config_records.py` and `status_records.py` are the formats; `cluster_state.py` and `status_board.py` are the states,
changed by `replay` only.
"""
