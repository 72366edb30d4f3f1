"""The machines that are linked to this hub: their links, the orders that go out, and what the machines need of a hub.

A machine connects to `links`. `fleet` knows which is linked, `far` are they as whoever gives orders sees them,
`hearing` takes what machines say, `needs` does what they ask for. What several hubs over one store have to tell each
other goes by the store: `elsewhere`. Nothing here decides whether an order is done: the machine's gate does.
"""
