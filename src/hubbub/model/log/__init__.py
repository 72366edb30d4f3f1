"""The log's nouns: event types, the projection of a project, what needs attention, and what leaves the hub."""
