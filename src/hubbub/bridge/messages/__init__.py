"""The messages that go over the bridge, and the client that they come from."""
