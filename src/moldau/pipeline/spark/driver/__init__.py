"""The driver side of applications: it plans batches, sends them to the workers and serves HTTP."""
