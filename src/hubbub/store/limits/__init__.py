"""The rows of limits: accounts, budgets, breakers."""
