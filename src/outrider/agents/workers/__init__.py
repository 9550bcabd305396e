"""The work on runs: which of those that wait begin here, and how it survives the process that did it."""
