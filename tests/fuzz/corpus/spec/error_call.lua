error("no" .. 5)
