"""The hub's operations: each is one function over one transaction; its docstring names what it records and refuses."""
