"""Answers to 08.6."""


class Counter:
    number = 0


class Toy:
    def __init__(self, values, counter=None):
        self.values = values
        self.counter = counter or Counter()

    def add_(self, number):
        self.values[:] = [value + number for value in self.values]
        self.counter.number += 1

    def view(self):
        return Toy(self.values, self.counter)

    def clone(self):
        return Toy(list(self.values))


class Saved:
    def __init__(self, toy):
        self.toy, self.then = toy, toy.counter.number

    def unpack(self):
        if self.toy.counter.number > self.then:
            raise RuntimeError("changed")
        return self.toy
