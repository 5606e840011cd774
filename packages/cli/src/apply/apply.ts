import { randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline/promises'
import type { Sluice } from '../../../node/src/client.ts'
import { SluiceError } from '../../../node/src/sluice-error.ts'
import { type Command, EXIT, Failure, misused, readArguments, result, say } from '../command.ts'
import { connect } from '../settings.ts'
import { carryOut, type Shown } from './carry-out.ts'
import { readDocument } from './document.ts'
import { describePlan, makePlan, nameOf, type Plan } from './plan.ts'
import { readWorkspace } from './workspace.ts'

const usage = 'apply -f <file> [--check] [--yes] [--prune] [--secrets] [--wait] [--json]'

/** The exit code of `--check` if the workspace differs from the file. */
const DRIFTED = 2
/** The server drops a lock that has not been renewed for a minute. */
const RENEW_MS = 20_000
const WAIT_MS = 120_000
const ASK_AGAIN_MS = 2_000

export const apply: Command = {
  usage,
  about: 'Apply a configuration file to the workspace',
  async run(args) {
    const { values, positionals } = readArguments(args, usage, {
      file: { type: 'string', short: 'f' },
      check: { type: 'boolean', default: false },
      yes: { type: 'boolean', default: false },
      prune: { type: 'boolean', default: false },
      secrets: { type: 'boolean', default: false },
      wait: { type: 'boolean', default: false },
    })
    if (!values.file || positionals.length > 0) throw misused('Specify one file with -f.', usage)
    const document = readDocument(values.file, process.env)
    const sluice = connect()
    const planNow = async () => {
      const found = await readWorkspace(sluice)
      return { found, plan: makePlan(document, found, values) }
    }
    if (values.check) return tellDrift((await planNow()).plan, values.json)
    await withLock(sluice, values.wait, async () => {
      const { found, plan } = await planNow()
      if (!(await isAgreed(plan, values))) return
      const shown = await carryOut(sluice, plan.steps, found, (step) =>
        say(`${step.action}d ${nameOf(step)}`),
      )
      const left = (await planNow()).plan
      tellDone(plan, shown, values.json)
      if (!values.secrets && left.steps.length > 0) throw notStoredAsWritten(left)
    })
  },
}

function tellDrift(plan: Plan, json: boolean | undefined): void {
  result(json, { steps: plan.steps.map(withoutFields), unchanged: plan.unchanged }, ...describePlan(plan))
  if (plan.steps.length > 0) process.exitCode = DRIFTED
}

async function isAgreed(
  plan: Plan,
  { yes, json }: { yes: boolean; json: boolean | undefined },
): Promise<boolean> {
  if (plan.steps.length === 0) {
    result(json, { steps: [], unchanged: plan.unchanged, secrets: [] }, ...describePlan(plan))
    return false
  }
  say(...describePlan(plan))
  if (yes) return true
  if (!process.stdin.isTTY)
    throw new Failure('There is no terminal to confirm the plan on: accept it with --yes.', EXIT.misused)
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await asking.question('Apply this? Only "yes" is accepted: ')
  asking.close()
  if (answer.trim() !== 'yes') throw new Failure('Nothing was changed.')
  return true
}

function tellDone({ steps, unchanged }: Plan, secrets: Shown[], json: boolean | undefined): void {
  const words = secrets.map((one) => `${nameOf(one)}: ${one.secret}`)
  if (words.length > 0) say('These secrets are only shown once:')
  result(
    json,
    { steps: steps.map(withoutFields), unchanged, secrets },
    ...words,
    'The workspace matches the file.',
  )
}

function notStoredAsWritten(left: Plan): Failure {
  return new Failure(
    'The server stores some of this in a different form, so the next plan would not be empty. `sluice export` shows that form:',
    EXIT.failed,
    describePlan(left),
  )
}

/** For the output of `--json`: the values of a step's fields may be secrets, so only their names are kept. */
const withoutFields = ({ fields, ...step }: Plan['steps'][number]) => ({
  ...step,
  fields: Object.keys(fields),
})

/** Allows one run at a time per workspace. The lock of a killed run expires. */
async function withLock(sluice: Sluice, waits: boolean, work: () => Promise<void>): Promise<void> {
  const holder = randomUUID()
  await takeLock(sluice, holder, waits)
  const renewing = setInterval(() => void sluice.lockConfiguration({ holder }).catch(() => {}), RENEW_MS)
  try {
    await work()
  } finally {
    clearInterval(renewing)
    await sluice.unlockConfiguration({ holder }).catch(() => {})
  }
}

async function takeLock(sluice: Sluice, holder: string, waits: boolean): Promise<void> {
  const lastMs = Date.now() + WAIT_MS
  for (let told = false; ; told = true) {
    try {
      await sluice.lockConfiguration({ holder })
      return
    } catch (error) {
      if (!(error instanceof SluiceError) || error.code !== 'conflict') throw error
      if (!waits || Date.now() > lastMs) throw new Failure(`${error.message} Nothing was changed.`)
      if (!told) say(`${error.message} Waiting for it.`)
    }
    await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS))
  }
}
