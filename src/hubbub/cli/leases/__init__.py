"""`hubbub with` and `hubbub lease`: things that commands need, and their holders."""
