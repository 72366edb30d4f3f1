"""The dashboard: its pages, made here, and its files for browsers, which are served from `static`."""
