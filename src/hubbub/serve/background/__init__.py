"""What the hub does by itself while it runs, beside answering calls."""
