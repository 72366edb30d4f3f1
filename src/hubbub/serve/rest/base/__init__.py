"""Foundation of every REST route: its call, its shapes, and large bodies and answers."""
