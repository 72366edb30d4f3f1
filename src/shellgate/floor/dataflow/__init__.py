"""What is known before it runs of the texts, files and paths that a program passes on to itself."""
