"""Other processes: programs that we run, each in a group that ends when we do, and locks that end with who has them."""
