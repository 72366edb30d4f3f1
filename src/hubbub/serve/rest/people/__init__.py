"""REST for people: users, tokens, logins, and projects with their members."""
