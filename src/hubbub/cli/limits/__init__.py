"""Commands for limits: accounts, budgets, breakers."""
