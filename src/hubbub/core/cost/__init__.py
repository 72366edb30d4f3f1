"""Token use of the agents' clients and its price: counted once, summed, and priced when it is shown."""
