"""The machines that are linked to this hub: their links, their orders, and their requests.

A machine connects to `link_endpoint`. `linked_nodes` knows the linked machines, `remote_nodes` show them to callers,
`node_reports` takes their reports, `node_requests` their requests. Several hubs over one store communicate through the
store: `other_hubs`. Nothing here decides whether an order is done: the machine's gate does.
"""
