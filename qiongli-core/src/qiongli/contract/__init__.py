"""The contract of a subject: models, loading, validation, schema and scaffold. It matches no text."""
