"""REST for everything that the command line and the dashboard do, under `/api/v1`."""

from hubbub.serve.rest.application import application

__all__ = ["application"]
