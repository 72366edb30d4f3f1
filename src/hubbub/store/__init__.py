"""The store: one contract (`tx`), two engines (`sqlite`, `postgres`), one module of SQL a noun."""
