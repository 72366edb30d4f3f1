"""REST of limits: reports of reached ones, budgets, breakers."""
