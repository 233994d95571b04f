"""The HTTP interface of the driver process."""
