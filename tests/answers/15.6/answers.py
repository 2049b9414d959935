def fourth_round(slow, fast):
    slow(), fast()
    ratios = []
    for _ in range(9):
        start = time.perf_counter()
        slow()
        middle = time.perf_counter()
        fast()
        ratios.append((middle - start) / (time.perf_counter() - middle))
    return ratios[3]
