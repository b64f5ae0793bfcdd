# Writes to every page that its parent may share with it: what the next run
# finds there is what it left.
# inside: refused \[\]$
import gc
class Mark:
    pass
for x in gc.get_objects():
    if type(x) is dict and "__builtins__" in x:
        x["capsid_escape_mark"] = 1
return refused("")
# ---- the next run
import sys
found = [x for x in sys.modules if hasattr(sys.modules[x], "capsid_escape_mark")]
return (happened if found else refused)(found)
