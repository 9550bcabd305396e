"""File formats of Office before 2007."""
