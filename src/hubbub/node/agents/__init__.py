"""Agents that people have placed on this machine: each is a `hubbub work`, started, minded and ended here.

    the machine's process ── keeper ── hubbub work ── what the agent runs for each task

A keeper ends with the machine's process, however that ends, and with the keeper everything beneath it; what is to run
is noted in the machine's folder, and started again with it. They run outside of the wall around commands: an agent's
program needs files of its own.
"""
