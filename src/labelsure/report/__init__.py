"""One page that tells whether predictions keep their promise, and what they say of each object."""
