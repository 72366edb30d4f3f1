"""What `hubbub node run` is made of: how a machine joins its hub, how it serves it, and how the system keeps it up."""
