"""A machine that has joined a hub, and is linked to it by one WebSocket: its messages, orders and reports."""
