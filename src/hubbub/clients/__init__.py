"""The clients' side: hooks in the agents' programs, their wakers, and the installers of both."""
