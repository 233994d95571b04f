"""A simulated clock, event loop, network and disk, on which the real broker runs. Start at `sim_loop.py`.

For Moldau's own tests: not part of the public test kit.
"""
