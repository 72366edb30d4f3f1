"""The store: one contract (`tx`), two engines (`sqlite`, `postgres`), and one module of SQL for each noun."""
