"""What the page of questions is made of."""
