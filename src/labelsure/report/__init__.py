"""One page that tells whether predictions keep their promise, and what they say of each object."""

from labelsure.report._page import write_report

__all__ = ["write_report"]
