"""`hubbub-hook`: what a client runs before and after its tools. The standard library only, since it must start at once.

A client's module says what its hooks mean; everything else here knows no client.
"""
