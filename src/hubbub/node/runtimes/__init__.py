"""The agents that a machine can be asked: a program of the operator's choice, or a model at an endpoint."""
