"""What a person wrote down before any run: the strict policy model, its loader and its digest."""
