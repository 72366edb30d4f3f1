"""The cast beside commander and planner: workers, a Relay team, editors, and two agents that use machines."""

SURVEYOR, LIBRARIAN = "surveyor", "librarian"
ADA, BEN, CAL, CRITIC = "ada", "ben", "cal", "critic"
EMIL, FAYE = "emil", "faye"
GUS, IDA = "gus", "ida"
ATTIC, CELLAR = "attic", "cellar"  # machines

WORKERS = (SURVEYOR, LIBRARIAN)
TEAM = (ADA, BEN, CAL, CRITIC)

REVIEWED = f"{CRITIC} reviews it"  # in the description of a task that says so
