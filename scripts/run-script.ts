import { sayFault } from '../lib/platform/log/say-fault.ts'

/** Exits with 1 and one sentence if the work fails for a reason that the user can fix. */
export async function runScript(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    process.stderr.write(`${sayFault(error)}\n`)
    process.exitCode = 1
  }
}
