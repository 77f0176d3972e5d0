"""Models as files: written, read and checked without running code from them."""
