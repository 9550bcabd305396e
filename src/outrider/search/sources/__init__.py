"""Services with a search of their own, one file each; `web_search` asks one where its `source` says so."""
