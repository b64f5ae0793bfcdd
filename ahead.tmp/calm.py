made = [1]
