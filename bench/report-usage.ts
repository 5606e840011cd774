import { readFileSync } from 'node:fs'

/** Loaded into each measured process before its own program: reports its resource usage on request. */
process.on('message', (message) => {
  if (message !== 'usage') return
  const { user, system } = process.cpuUsage()
  const { rss, heapTotal, heapUsed, arrayBuffers } = process.memoryUsage()
  const of = { programBytes: programBytes(), heapBytes: heapTotal, heapUsedBytes: heapUsed, arrayBuffers }
  process.send!({ usage: { cpuSeconds: (user + system) / 1e6, rssBytes: rss, of } })
})
process.channel?.unref()

/** The memory of Node and its libraries that is mapped from their files. */
function programBytes(): number {
  return Number(readFileSync('/proc/self/status', 'utf8').match(/^RssFile:\s+(\d+)/m)?.[1] ?? 0) * 1024
}
