"""One module a format; ``gate.artifacts.registry`` names them. Nothing is imported before it is used."""
