"""Searching a workspace: a pattern, two engines that understand it alike, and what they found."""
