"""Tests of clusters that take long: they run when they are asked for."""

import os

import pytest

on_demand = pytest.mark.skipif(
    os.environ.get("MOLDAU_CLUSTER") != "1", reason="takes long: `make cluster` runs it (MOLDAU_CLUSTER=1)"
)
