"""The text of a program as tokens, words and statements, read twice: by tree-sitter and by a reader of our own."""
