"""What is refused, or asked, whatever the settings: one module a concern."""
