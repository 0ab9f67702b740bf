"""Presentation written as text, Markdown, JSON or CSV."""
