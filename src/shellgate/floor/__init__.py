"""The floor: refusals and questions that hold whatever the settings; one module a concern."""
