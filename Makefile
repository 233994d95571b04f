# make up    start the platform on this machine (Ctrl-C stops it; HOST=0.0.0.0 to let other machines in)
# make test  everything that must hold before a change lands
# make check / fast   linters, types, spelling and style / the quick tests only
# make pythons         the quick tests on every Python from 3.11 on that is found here (ARGS="3.13" for one)
# make sim             simulated clusters: SEEDS=200 fresh ones, or SEED=n once more
# make cluster / chaos   clusters of real processes with a ZooKeeper / ROUNDS= faults with a checker over the history
# make bench / soak   the race with Apache Kafka / an hour of mixed load (ARGS=, MINUTES=)
# make bench-cluster   three brokers beside Kafka's three: replicated produce, failover (ARGS=)
# make bench-pipeline / kills   pipelines beside Kafka Streams / exactly once under ROUNDS= kills

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.PHONY: up test check fast pythons sim cluster chaos compat bench bench-cluster bench-pipeline kills soak clean

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "moldau needs Python 3.11 or newer; this is %s. Try: make PYTHON=python3.11" % sys.version.split()[0])'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip
	$(BIN)/python -m pip install -q -e '.[spark-connect,connect]' --group dev
	touch $(STAMP)

HOST ?= 127.0.0.1
up: $(STAMP)
	$(BIN)/moldau up --demo --host $(HOST)

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYTHONPATH=src $(BIN)/lint-imports
	$(BIN)/codespell *.md docs src examples bench tools
	$(BIN)/python tools/style-check

fast: $(STAMP)
	$(BIN)/pytest -q tests/unit tests/scenarios tests/property

pythons:
	sh tools/pythons $(ARGS)

test: check
	sh tools/install-test-tools
	$(BIN)/pytest -n 2 --dist loadfile --durations=40 --durations-min=10 tests

SEEDS ?= 200
SEED  ?=
sim: $(STAMP)
	cd tests && ../$(BIN)/python -m sim $(if $(SEED),--first $(SEED) --verbose,--first $$(date +%s) --count $(SEEDS))

ROUNDS ?= 60
cluster: $(STAMP)
	sh tools/install-test-tools
	MOLDAU_CLUSTER=1 $(BIN)/pytest -q tests/e2e/cluster

chaos: $(STAMP)
	sh tools/install-test-tools
	MOLDAU_CLUSTER=1 $(BIN)/pytest -q -rP tests/e2e/cluster/test_chaos.py --rounds $(ROUNDS)

bench: $(STAMP)
	sh bench/install-tools
	$(BIN)/python bench/race.py $(ARGS)

MINUTES ?= 60
soak: $(STAMP)
	sh bench/install-tools
	$(BIN)/python bench/soak.py $(MINUTES)

# Exactly once under many kills, a cluster of two workers, a gigabyte, a full disk, a broker that stays away; every random
# topology the oracle has, through Spark; backlogs of 102 generated cases beside Kafka Streams, live and in batches of any size.
ROUNDS ?= 60
kills: $(STAMP)
	MOLDAU_KILL_ROUNDS=$(ROUNDS) MOLDAU_ORACLE_CASES=300 MOLDAU_BACKLOG_CASES=102 $(BIN)/pytest -q tests/e2e/spark tests/e2e/dataframe tests/e2e/sql/server tests/e2e/connect tests/e2e/mqtt tests/unit/pipeline/connect/connectors

bench-cluster: $(STAMP)
	sh bench/install-tools
	$(BIN)/python bench/cluster.py $(ARGS)

bench-pipeline: $(STAMP)
	sh bench/install-tools
	$(BIN)/python bench/pipeline.py $(ARGS)

clean:
	rm -rf $(VENV) .pythons .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
