"""SQL for the fleet: the machines and accounts that agents run on."""
