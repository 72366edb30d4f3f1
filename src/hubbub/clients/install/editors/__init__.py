"""Putting one entry of ours into somebody else's configuration file, and taking it out again, by splicing text.

Each editor knows one language. It finds places with a reader that knows every byte, splices, reads the result again
and lets it pass only if nothing but our entry differs: order, indentation, comments and neighbours stay as they are.
"""
