"""The floor: refusals and questions that hold under any settings; one module a concern."""
