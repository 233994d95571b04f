"""Transformations of single records between a connector and its converters (Kafka's SMTs), and their predicates. Pure.

    chain = Chain.of(config)                 # the connector's configuration; ConfigError for a wrong one
    if chain: ...                            # false without transformations
    record = chain.apply(record)             # None: the record was dropped. TransformError: it cannot be transformed
    results = chain.apply_all(records)       # the same for many; a TransformError stands in the place of its record

A record that goes in is not changed; what comes out is the same object where nothing applied. A chain belongs to one
task: it remembers what it has worked out for the schemas it has seen.

`chain_declarations(config)` and `chain_errors(config)` are what `config/validate` needs: all settings of the named
transformations and predicates, and what is wrong that no declaration says.

Start reading with `chain.py`, then `transformation.py`; `catalog.py` has all of them by name.
"""
