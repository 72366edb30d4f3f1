"""What every route of the REST interface stands on: its call, its shapes, its large bodies and answers."""
