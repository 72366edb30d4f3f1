"""What the hub can do: each operation is one function over one transaction, and says what it records and refuses."""
