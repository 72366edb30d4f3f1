"""Installers: how the hub gets into the configuration of each client, and out of it again without a trace."""
