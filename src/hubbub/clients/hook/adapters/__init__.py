"""The clients of the hook: a module for each reads what the client sends and writes the reply in its form."""
