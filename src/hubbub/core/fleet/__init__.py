"""Machines: how they join, what they are asked to do, what they ask of people, and the agents that run on them."""
