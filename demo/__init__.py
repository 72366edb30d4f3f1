"""The demo: agents at real work through a fresh hub, some of the processes killed, and proof that nothing was lost.

`run` is the entrance, `scenes` what happens, `stage` where it happens; `check` compares what the hub says with what the
commands wrote into the `ledger` themselves. `jobs` are the commands that the agents run, over this source tree.
Beside those agents play the `commander`, who speaks CommHub, the `planner` of a Relay team with each `teammate`, and
`editor`s, who speak GolemXV.
"""
