"""A machine that agents may use: its gate, and the tools behind it.

Everything here happens on this machine, as the person who runs it; so every call passes the gate first, whoever made
it and whatever the hub says about it.
"""
