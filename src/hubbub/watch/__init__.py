"""`hubbub watch`: your needs, the board, the fleet and the log, live in a terminal."""
