"""A machine's access to the operating system: kernel calls, files opened without following links, and load."""
