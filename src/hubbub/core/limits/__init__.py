"""Limits: accounts that are paused, budgets that are spent, breakers that stop circles."""
