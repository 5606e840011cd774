import { sayFault } from '../lib/platform/log/say-fault.ts'

/** Ends with 1 and one sentence where the work fails for what its user can mend. */
export async function runScript(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    process.stderr.write(`${sayFault(error)}\n`)
    process.exitCode = 1
  }
}
