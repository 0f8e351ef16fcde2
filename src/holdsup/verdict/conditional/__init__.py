"""On which kinds of input does the difference between systems hold?"""
