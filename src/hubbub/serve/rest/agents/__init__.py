"""REST for agents: their presence, scopes and edits."""
