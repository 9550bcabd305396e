"""What the person who runs the house sees of all runs, and answers to their questions."""
