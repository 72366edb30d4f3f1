"""The folder where a team works, on the team's machine: its members, and the hooks around its tasks."""
