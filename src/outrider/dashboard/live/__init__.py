"""Watch and control browser sessions over a WebSocket."""
