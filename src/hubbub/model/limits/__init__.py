"""Limits: accounts with makers of models, budgets, breakers, and what programs say of a limit."""
