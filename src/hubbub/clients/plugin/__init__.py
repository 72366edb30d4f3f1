"""The files of the clients' plugins and extensions, as shipped: data, and no code of ours.

Their commands name `hubbub-hook` plainly; an installer writes them with the absolute command of this installation.
"""
