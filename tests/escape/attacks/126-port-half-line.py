# Half a message, and the end.
# outside: exit 0.*reader heard.*
# inside: worker-exit: worker exited with code 0 before completing$
os.set_blocking(3, True)
os.write(3, b'{"type":"done","value":{"escaped":true}}')
os._exit(0)
