"""Reading in a process of its own, which a hostile document may crash."""
