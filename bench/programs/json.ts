return await host.data(null)
