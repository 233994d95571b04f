"""Whether a configuration can be run, setting by setting, as `config/validate` answers it.

`common_settings.py` declares the settings that every connector has, `validation.py` applies all declarations and the
checks that need more than one setting, those of `topic_names.py` among them. `rendering.py` makes Kafka Connect's JSON
of it. Asks no broker.
"""
