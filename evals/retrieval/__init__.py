"""Quality of finding passages: judged queries, and where the built-in word vectors come from."""
