"""Live view and manual control of browser sessions."""
