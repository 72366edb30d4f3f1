"""Programs of ours that go on running: a machine that serves its hub, a hub where none runs, system services."""
