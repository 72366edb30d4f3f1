"""How agents come, stay, edit and go; and where they are."""
