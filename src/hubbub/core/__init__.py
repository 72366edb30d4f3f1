"""The hub's operations: each is one function over one transaction, and names what it records and refuses."""
