"""REST for the command line and the dashboard, under `/api/v1`."""

from hubbub.serve.rest.application import application

__all__ = ["application"]
