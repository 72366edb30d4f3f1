"""Commands for the programs in which agents run: installing, the bridge, the hooks of a project."""
