"""Chrome DevTools Protocol (CDP): transports, frames, scripts and values."""
