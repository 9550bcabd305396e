"""Take values for a JSON schema out of pages, without a model."""
