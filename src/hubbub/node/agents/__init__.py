"""Agents that people have placed on this machine: each is a `hubbub work`, started, supervised and ended here.

    the machine's process ── keeper ── hubbub work ── the agent's program for each task

A keeper ends with the machine's process, however that ends, and everything beneath it ends with the keeper. The agents
to run are recorded in the machine's folder, and restarted with it. They run outside of the sandbox of commands: an
agent's program needs files of its own.
"""
