"""The tools behind the gate."""
