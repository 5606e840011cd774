import { type SeenRequest, startBucket } from './bucket.ts'
import type { Fault } from './bucket-faults.ts'

/** Runs in the process that `startFaultyBucket` starts, which sends it these messages. */
export type ToBucket =
  | { kind: 'add'; fault: Fault }
  | { kind: 'release'; gate: string }
  | { kind: 'clear' }
  | { kind: 'ask' }
export type FromBucket =
  | { kind: 'started'; endpoint: string; port: number }
  | { kind: 'seen'; request: SeenRequest }
  | { kind: 'done'; peakMemoryBytes: number }

const { endpoint, port, faults, traffic, close } = await startBucket(JSON.parse(process.argv[2]!))
/** The parent process may be gone. */
const send = (message: FromBucket) =>
  process.connected && process.send!(message, undefined, undefined, () => {})

process.on('message', (message: ToBucket) => {
  if (message.kind === 'add') faults.add(message.fault)
  else if (message.kind === 'release') faults.release(message.gate)
  else if (message.kind === 'clear') faults.clear()
  send({ kind: 'done', peakMemoryBytes: process.resourceUsage().maxRSS * 1024 })
})
const end = async () => {
  await close()
  process.exit()
}
process.once('SIGTERM', end)
process.once('disconnect', end)
traffic.listen((request) => send({ kind: 'seen', request }))
send({ kind: 'started', endpoint, port })
