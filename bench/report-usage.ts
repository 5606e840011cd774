/** Loaded into each measured process before its own program: reports its resource usage on request. */
process.on('message', (message) => {
  if (message !== 'usage') return
  const { user, system } = process.cpuUsage()
  process.send!({ usage: { cpuSeconds: (user + system) / 1e6, rssBytes: process.memoryUsage.rss() } })
})
process.channel?.unref()
