"""Texts become unit vectors: by the bundled model, or checked as an endpoint sent them."""
