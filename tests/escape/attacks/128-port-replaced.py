# Puts another file in the port's place.
# outside: value .*reader saw the end
# inside: (worker-exit|timeout|exception): .*
a, b = os.pipe()
os.dup2(a, 3)
return happened("replaced")
