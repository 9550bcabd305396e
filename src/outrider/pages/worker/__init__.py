"""Read documents in a separate process, which a hostile document may crash."""
