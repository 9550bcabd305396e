"""The protocol's own conformance suite against our HTTP edge: `python -m tests.conformance`, or `make conformance`."""
