"""What a page says about itself: title, authors, dates, language, the product that it sells."""
