"""The crash loop of several servers on one PostgreSQL."""
