"""Answers to 14.4."""


def as_found(numbers, run):
    def work(shared, k):
        for x in numbers[k::2]:
            total = shared[0]
            yield
            shared[0] = total + x
            yield

    shared = run(work, threads=2, places=1)
    return shared[0]


def own_sums(numbers, run):
    def work(shared, k):
        own = 0.0
        for x in numbers[k::2]:
            own += x
            yield
        shared[k] = own

    return sum(run(work, threads=2, places=2))


def three_threads_with_ranges(numbers, run):
    size = -(-len(numbers) // 3)

    def work(shared, k):
        for x in numbers[k * size : (k + 1) * size]:
            shared[k] += x
            yield

    return sum(run(work, 3, 3))


def rarer(numbers, run):
    def work(shared, k):
        own = 0.0
        for x in numbers[k::2]:
            own += x
            yield
        total = shared[0]
        yield
        shared[0] = total + own

    return run(work, threads=2, places=1)[0]


def smaller_range(numbers, run):
    def work(shared, k):
        mine = numbers[k::2]
        for begin in range(0, len(mine), 4):
            total = shared[0]
            yield
            shared[0] = total + sum(mine[begin : begin + 4])
            yield

    return run(work, threads=2, places=1)[0]


def no_yield_between(numbers, run):
    def work(shared, k):
        for x in numbers[k::2]:
            shared[0] += x
            yield

    return run(work, threads=2, places=1)[0]


def one_thread(numbers, run):
    def work(shared, k):
        for x in numbers:
            total = shared[0]
            yield
            shared[0] = total + x
            yield

    return run(work, threads=1, places=1)[0]


def one_works(numbers, run):
    def work(shared, k):
        if k == 0:
            for x in numbers:
                shared[0] += x
                yield
        yield

    return run(work, threads=2, places=1)[0]


def counts_twice(numbers, run):
    def work(shared, k):
        for x in numbers:
            shared[k] += x
            yield

    return sum(run(work, threads=2, places=2))


def only_the_first(numbers, run):
    def work(shared, k):
        for x in numbers[k::2]:
            shared[k] += x
            yield

    return run(work, threads=2, places=2)[0]


def no_threads(numbers, run):
    def work(shared, k):
        for x in numbers[k::2]:
            shared[k] += x

    return sum(run(work, threads=2, places=2))


def returns_the_list(numbers, run):
    def work(shared, k):
        for x in numbers[k::2]:
            shared[k] += x
            yield

    return run(work, threads=2, places=2)
