"""Git's own files, settings and variables, and what its reading subcommands show."""
