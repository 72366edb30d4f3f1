"""People, their roles, tokens and logins."""
