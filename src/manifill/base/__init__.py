"""What every other package uses: array types, the compiler, parameters, files that are written whole."""
