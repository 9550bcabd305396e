"""An agent's main job, step by step on the terminal: `make demo`, or `python -m demo "a question"`."""
