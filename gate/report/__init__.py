"""A decided run as one document, and that document in many formats. No number is computed here."""
