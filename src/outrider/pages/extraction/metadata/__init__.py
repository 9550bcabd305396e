"""Read what a page declares: title, authors, dates, language, product."""
