import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

type Rules = { groups: { rules: { alert: string }[] }[] }
type Cases = {
  tests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[]
}
const RULES = readFileSync('deploy/alerts.yaml', 'utf8')
const CASES = readFileSync('deploy/alerts.cases.yaml', 'utf8')

const promtool = (...args: string[]) => spawnSync('promtool', args, { encoding: 'utf8' })
const isMissing = promtool('--version').error !== undefined
if (isMissing) console.warn('skipped, not installed: promtool')

it('each alert has a case in which it fires, and an earlier one in which it does not', () => {
  const alerts = (parse(RULES) as Rules).groups.flatMap(({ rules }) => rules.map(({ alert }) => alert))
  const cases = (parse(CASES) as Cases).tests.flatMap((one) => one.alert_rule_test)
  for (const alert of alerts) {
    const fires = cases.filter(({ alertname }) => alertname === alert).map((one) => one.exp_alerts.length > 0)
    expect(fires, alert).toEqual([false, true])
  }
})

describe.skipIf(isMissing)('promtool', () => {
  it('confirms that every alert fires in its case', () => {
    const { status, stderr, stdout } = promtool('test', 'rules', 'deploy/alerts.cases.yaml')
    expect(status, stdout + stderr).toBe(0)
  })

  it('detects an alert that no longer fires', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-alerts-'))
    writeFileSync(
      join(folder, 'alerts.yaml'),
      RULES.replace('up{job="sluice"} == 0', 'up{job="sluice"} == 2'),
    )
    writeFileSync(join(folder, 'alerts.cases.yaml'), CASES)
    const { status, stdout, stderr } = promtool('test', 'rules', join(folder, 'alerts.cases.yaml'))
    rmSync(folder, { recursive: true })
    expect(status).not.toBe(0)
    expect(stdout + stderr).toContain('SluiceDown')
  })
})
