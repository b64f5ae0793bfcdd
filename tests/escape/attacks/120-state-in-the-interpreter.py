# Changes the interpreter for the next run: its builtins and a module.
# inside: refused .*AttributeError.*
import builtins, json
builtins.left = "left"
json.left = "left"
return refused("")
# ---- the next run
import builtins, json
return first(tried(lambda: builtins.left), tried(lambda: json.left))
