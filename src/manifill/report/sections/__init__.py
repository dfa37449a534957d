"""The sections of the page, one per file: texts, tables and charts, and the function that makes them."""
