"""Arrays in, arrays or frozen records out; each function names the equation it implements."""
