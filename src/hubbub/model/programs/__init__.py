"""Starting, waiting and addresses of hubbub's programs."""
