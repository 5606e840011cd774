import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { httpCall } from '../../test/support/http-call.ts'

/**
 * Sends HEAD requests for an upload until its parent sends a message, and answers with the sorted times in
 * milliseconds. It is a process of its own, so that it measures the server and not its busy parent.
 */
const EVERY_MS = 50
const [url, token] = process.argv.slice(2) as [string, string]

const stopped = once(process, 'message')
let isOver = false
stopped.then(() => {
  isOver = true
})
const took: number[] = []
const asked: Promise<void>[] = []
while (!isOver) {
  const at = performance.now()
  const answered = httpCall({ method: 'HEAD', url, token, headers: { 'Tus-Resumable': '1.0.0' } })
  asked.push(
    answered.then(
      ({ status }) => void took.push(status === 200 ? performance.now() - at : Number.POSITIVE_INFINITY),
    ),
  )
  await sleep(EVERY_MS)
}
await Promise.all(asked)
process.send!(took.sort((a, b) => a - b))
process.disconnect()
