"""The methods that are compared, one module for each package."""
