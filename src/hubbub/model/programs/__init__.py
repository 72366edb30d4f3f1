"""How the programs of hubbub start, wait, and reach an address."""
