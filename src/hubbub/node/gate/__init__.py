"""Whether a call may do what it asks: the floor that nothing turns off, the operator's rules, the mode.

A guard rail. The wall is the operating system's: see `hubbub.node.sandbox`.
"""
