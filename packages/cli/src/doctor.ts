import { type Command, readArguments } from './command.ts'
import { EXIT, Failure } from './failure.ts'
import { connect, readSettings, settingsFolder } from './settings.ts'
import { result } from './tell.ts'

const usage = 'doctor [--json]'

type Finding = { ok: boolean; what: string; advice?: string[] }

export const doctor: Command = {
  usage,
  about: 'Say what keeps uploads or webhooks from working',
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
    if (!ok) throw new Failure('Something is wrong.', EXIT.failed)
  },
}

async function examine(): Promise<Finding[]> {
  const { baseUrl } = readSettings()
  const findings: Finding[] = [
    { ok: true, what: `${baseUrl}, with what ${settingsFolder()} and the environment say` },
  ]
  const sluice = connect()
  for await (const { id, name } of sluice.listDataStores()) {
    const { check } = await sluice.checkDataStore({ id })
    const ok = check?.ok ?? false
    const wrong = check?.operations.filter((operation) => !operation.ok) ?? []
    const advice = wrong.map((operation) => `${operation.name}: ${operation.message}`)
    findings.push({ ok, what: `Data Store ${name}`, ...(!ok && { advice }) })
  }
  for await (const { name, source } of sluice.listPipes())
    findings.push(
      source.http
        ? { ok: true, what: `Pipe ${name}` }
        : { ok: false, what: `Pipe ${name}`, advice: ['Its source is off.'] },
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
