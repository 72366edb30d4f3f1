"""`hubbub watch`: what needs you, the board, the fleet and the log, live in a terminal."""
