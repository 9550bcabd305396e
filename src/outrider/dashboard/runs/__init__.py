"""What the pages of runs are made of."""
