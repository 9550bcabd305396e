"""From a draft to passages, with their exact places."""
