"""The clients of the installer: a module for each names the client's files and the entries in them."""
