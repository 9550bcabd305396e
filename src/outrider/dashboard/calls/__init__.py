"""What the page Calls is made of."""
