"""Search providers, one file per `search.provider.SearchProvider`, found by discovery."""
