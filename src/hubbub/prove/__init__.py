"""Checks that anybody can run to see that the hub keeps its promises, whichever process dies."""
