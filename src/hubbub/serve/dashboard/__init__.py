"""The dashboard: its pages, made here, and the files for browsers, which lie in `static` as they are served."""
