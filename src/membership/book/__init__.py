"""The book: what the papers print, the chapters' exhibits and claims, and pages of them."""
