"""One file per search provider; found, not listed. A provider is an instance of `search.provider.Provider`."""
