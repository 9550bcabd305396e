"""One page over the network, with manners, and what it means if that fails."""
