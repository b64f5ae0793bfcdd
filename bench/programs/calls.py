total = 0
for i in range(100):
    total += await host.echo(i)
return total
