"""Programs of ours that keep running: a machine that serves its hub, a hub where none runs, system services."""
