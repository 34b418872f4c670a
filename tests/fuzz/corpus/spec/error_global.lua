print(string.rep("a", 5))
