"""The machines that are linked to this hub: their links, the orders that go out, and what the machines need of a hub.

A machine connects to `link_endpoint`. `linked_nodes` knows which is linked, `remote_nodes` are they as whoever gives
orders sees them, `node_reports` takes what machines say, `node_requests` does what they ask for. What several hubs
over one store have to tell each other goes by the store: `other_hubs`. Nothing here decides whether an order is done:
the machine's gate does.
"""
