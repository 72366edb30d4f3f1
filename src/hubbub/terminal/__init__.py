"""What commands and the programs behind them share: which hub and as whom, tables and text at a terminal, failures."""
