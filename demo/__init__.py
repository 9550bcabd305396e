"""Show an agent's main job on the terminal: `make demo`, or `python -m demo "a question"`."""
