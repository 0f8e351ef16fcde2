"""Random ordinary tables through every question: nothing crashes, and laws hold."""
