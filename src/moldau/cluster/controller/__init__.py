"""The controller: who leads which partition, and who takes part in it. All but `runner` and `writing` is pure."""
