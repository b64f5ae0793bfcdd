# Says done twice, differently, and returns a third thing: the first counts.
# outside: value .*reader heard
# inside: value \{"forged": ?1\}$
os.set_blocking(3, True)
os.write(3, b'{"type":"done","value":{"forged":1}}\n'
            b'{"type":"done","value":{"forged":2}}\n'
            b'{"type":"log","text":"late"}\n')
return happened("a third outcome")
