"""The hub's own work while it runs, beside answering calls."""
