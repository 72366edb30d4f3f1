"""The dashboard: its pages, made here, and the files that browsers fetch, which lie in `static` as they are served."""
