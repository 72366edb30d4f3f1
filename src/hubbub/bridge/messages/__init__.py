"""The messages over the bridge, and the client that they come from."""
