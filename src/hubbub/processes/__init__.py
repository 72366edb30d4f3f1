"""Other processes: programs that we run, each in a group that ends with us, and locks that end with their holders."""
