"""The files of the plugins and extensions that clients load, as they are shipped: data, and no code of ours.

Their commands name `hubbub-hook` plainly; an installer writes them with the absolute command of this installation.
"""
