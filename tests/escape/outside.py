"""Runs an attack as its positive control: a program's text as the body of an
async function, in this process, with nothing between it and the machine.

outside.py PROGRAM...   several are run one after the other in one interpreter
"""
import ast
import asyncio
import json
import sys


def compile_body(text):
    body = ast.parse(text).body
    where = dict(lineno=1, col_offset=0)
    function = ast.AsyncFunctionDef(
        name="program", body=body, decorator_list=[], args=ast.arguments(
            posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[],
            defaults=[]), **where)
    module = ast.fix_missing_locations(
        ast.Module(body=[function], type_ignores=[]))
    names = {}
    exec(compile(module, "program.py", "exec"), names)
    return names["program"]


class Tools:
    async def echo(self, value):
        return value


async def main():
    import builtins
    builtins.tools = Tools()
    value = None
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            value = await compile_body(file.read())()
    return value


outcome = asyncio.run(main())
print("\n" + json.dumps(outcome), flush=True)
# What stands at the other end of descriptor 3 has seen all when this ends.
sys.stdin.read()
