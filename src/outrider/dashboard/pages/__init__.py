"""The pages: one file each with a `Page`, found here and listed nowhere."""
