"""What every request passes, whatever it asks for: the guard, logins, limits, and the headers of answers."""
