"""Commands of agents: each has a keeper, a small process of its own that starts it, reads its output and ends it.

A machine asks its forker for a keeper; the forker is an almost empty process, so that forking costs a millisecond. A
keeper lives as long as its command. In the foreground it ends with the line to its caller; in the background it goes on
without the caller, and ends with the hub of this machine, if there is one.

    hub or client ── forker ──┬── keeper ── sandbox ── bash
                              └── keeper ── sandbox ── bash

Nothing is left over, whichever process is killed: a keeper ends processes that have lost their parent, a forker those
that have lost their keeper, each ends when the one above it does, and the sandbox ends with its keeper.
"""
