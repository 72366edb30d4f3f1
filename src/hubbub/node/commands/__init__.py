"""Commands that agents run: each has a keeper, a small process of its own that starts it, listens to it and ends it.

A machine asks its forker for a keeper; the forker is a process with nothing in it, so that one costs a millisecond.
A keeper lives as long as its command. In the foreground it ends with the line to whoever waits for the result; in the
background it goes on when they are gone, and ends with the hub of this machine, if there is one.

    hub or client ── forker ──┬── keeper ── the wall ── bash
                              └── keeper ── the wall ── bash

Nothing is left over, whoever is killed: a keeper ends what has lost its parent, a forker what has lost its keeper,
each ends when the one above it does, and the wall ends with its keeper.
"""
