"""Events of runs, saved once and delivered to followers in all processes."""
