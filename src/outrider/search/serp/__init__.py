"""Result pages of search engines, one file per engine."""
