"""`hubbub-hook`: runs before and after a client's tools. The standard library only, since it must start at once.

A client's module knows the meaning of its hooks; everything else here knows no client.
"""
