"""The dashboard, in a real browser. A package, so that its tests share one browser, which ends before any other test.

While Playwright runs, nothing else in its process may have an event loop.
"""
