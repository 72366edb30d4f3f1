"""What a call does once the gate has let it through."""
