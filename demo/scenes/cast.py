"""Who plays beside the commander."""

SURVEYOR, LIBRARIAN = "surveyor", "librarian"
