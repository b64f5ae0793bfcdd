# Forges the host's part: replies and a new program, sent upward, and to itself.
# outside: value .*reader heard
# inside: refused "?true"?$
# calls: 1
os.set_blocking(3, True)
os.write(3, b'{"type":"reply","id":1,"value":"forged"}\n'
            b'{"type":"run","program":"return 666","namespaces":[]}\n'
            b'{"type":"boot","protocol":1,"maxOutputBytes":9,"maxHeapMb":9}\n')
os.set_blocking(3, False)
answer = await tools.echo("true")
return (refused if world["inside"] else happened)(answer)
