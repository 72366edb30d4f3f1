"""A machine that has joined a hub, and is linked to it by one WebSocket: what it hears, holds, does and tells."""
