"""The Chrome DevTools Protocol: transport, frames, scripts and values."""
