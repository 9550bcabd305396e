"""Services with their own search, one file each; `web_search` asks the one that `source` names."""
