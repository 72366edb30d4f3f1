"""Installers: put the hub into the configuration of each client, and take it out again without a trace."""
