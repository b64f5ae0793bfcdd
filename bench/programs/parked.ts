return await host.wait(null)
