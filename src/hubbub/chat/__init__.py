"""Chatting with the agent of this machine: its side of `hubbub chat`, apart from the terminal."""
