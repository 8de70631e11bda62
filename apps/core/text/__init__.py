"""Text as all apps read it: cleaned, and as words, languages, numbers and names."""
