import { SluiceError } from '../../node/src/sluice-error.ts'
import { type Command, EXIT, Failure, readArguments, result } from './command.ts'
import { connect, readSettings, settingsFolder } from './settings.ts'

const usage = 'doctor [--json]'

type Finding = { ok: boolean; what: string; advice?: string[] }

export const doctor: Command = {
  usage,
  about: 'Report what keeps uploads or webhooks from working',
  async run(args) {
    const { values } = readArguments(args, usage, {})
    const findings = await examine()
    const ok = findings.every((finding) => finding.ok)
    const words = findings.flatMap(({ ok, what, advice = [] }) => [
      `${ok ? '✓' : '✗'} ${what}`,
      ...advice.map((line) => `  ${line}`),
    ])
    const told = findings.map(({ advice, ...rest }) => ({
      ...rest,
      ...(advice && { advice: advice.join('\n  ') }),
    }))
    result(values.json, { ok, findings: told }, ...words)
    if (!ok) throw new Failure('Some checks failed.', EXIT.failed)
  },
}

type Sluice = ReturnType<typeof connect>

async function examineDataStore(
  sluice: Sluice,
  { id, name }: { id: string; name: string },
): Promise<Finding> {
  const what = `Data Store ${name}`
  try {
    const { check } = await sluice.checkDataStore({ id })
    if (check?.ok) return { ok: true, what }
    const refused = check?.operations.filter((operation) => !operation.ok) ?? []
    return { ok: false, what, advice: refused.map((operation) => `${operation.name}: ${operation.message}`) }
  } catch (error) {
    // The Data Store is being changed, or has been checked too often. `doctor` continues, because the other findings
    // are still useful.
    if (!(error instanceof SluiceError) || !['conflict', 'rate_limited'].includes(error.code)) throw error
    return { ok: false, what, advice: [error.message] }
  }
}

async function examine(): Promise<Finding[]> {
  const { baseUrl } = readSettings()
  const findings: Finding[] = [
    { ok: true, what: `${baseUrl}, with the settings in ${settingsFolder()} and the environment` },
  ]
  const sluice = connect()
  for await (const store of sluice.listDataStores()) findings.push(await examineDataStore(sluice, store))
  for await (const { name, source } of sluice.listPipes())
    findings.push(
      source.http
        ? { ok: true, what: `Pipe ${name}` }
        : { ok: false, what: `Pipe ${name}`, advice: ['Its HTTP source is off.'] },
    )
  const { data: failed } = await sluice.listDeliveries({ state: 'failed', limit: 1 })
  const last = failed[0]
  if (last)
    findings.push({
      ok: false,
      what: `A webhook to ${last.url} failed`,
      advice: [`sluice resend ${last.id}`],
    })
  return findings
}
