# Classes that pass for strings, numbers and lists, which Python's own json takes.
# inside: invalid-output: program completion must be lossless JSON: .*
import json
class Text(str):
    def __len__(self):
        return 1 << 40
class List(list):
    def __iter__(self):
        yield from (1, 2, 3)
class Int(int):
    def __index__(self):
        os._exit(0)
value = {"a": [Text("x"), List([1]), Int(3)]}
return value if world["inside"] else tried(json.dumps, value)
