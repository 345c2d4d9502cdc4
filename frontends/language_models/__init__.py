"""Whole language models from their configurations: see `language_model`."""
