import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { NODE_FLAGS } from '../test/support/sluice.ts'

type Manifest = { kind: string; metadata: { name: string }; spec: Record<string, unknown> }
const KUBECTL = 'kubectl'
const ANALYZE = 'systemd-analyze'
const isMissing = (program: string) => spawnSync(program, ['version']).error !== undefined
const missing = [KUBECTL, ANALYZE].filter(isMissing)
if (missing.length > 0) console.warn(`skipped, not installed: ${missing.join(', ')}`)

it.skipIf(missing.includes(KUBECTL))('the base is rendered, with monitoring and without', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-kustomize-'))
  const [base, monitoring] = [join(folder, 'kubernetes'), join(folder, 'monitoring')]
  cpSync('deploy/kubernetes', base, { recursive: true })
  cpSync('deploy/monitoring', monitoring, { recursive: true })
  renameSync(join(base, 'secret.example.yaml'), join(base, 'secret.yaml'))
  const render = () => {
    const { status, stdout, stderr } = spawnSync(KUBECTL, ['kustomize', base], { encoding: 'utf8' })
    expect(status, stderr).toBe(0)
    return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest)
  }
  const bare = render().map(({ kind }) => kind)
  for (const kind of ['Deployment', 'PodDisruptionBudget', 'HorizontalPodAutoscaler'])
    expect(bare.filter((one) => one === kind)).toHaveLength(3)
  expect(bare).not.toContain('ServiceMonitor')
  const file = join(base, 'kustomization.yaml')
  writeFileSync(file, `${readFileSync(file, 'utf8')}components:\n  - ../monitoring\n`)
  const all = render()
  rmSync(folder, { recursive: true })
  expect(all.map(({ kind }) => kind)).toContain('ServiceMonitor')
  const scaled = all.find(
    ({ kind, metadata }) => kind === 'HorizontalPodAutoscaler' && metadata.name === 'upload',
  )!
  expect(JSON.stringify(scaled.spec.metrics)).toContain('sluice_upload_memory_bytes')
  expect(scaled.spec).toMatchObject({ minReplicas: 2, maxReplicas: 20 })
})

const unit = readFileSync('deploy/systemd/sluice@.service', 'utf8')

it('the systemd unit starts Node as the image does', () => {
  const started = unit.match(/^ExecStart=(.+)$/m)![1]
  expect(started).toBe(['/opt/sluice/node_modules/.bin/node', ...NODE_FLAGS, 'server.ts'].join(' '))
})

it.skipIf(missing.includes(ANALYZE))('systemd takes the unit', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-systemd-'))
  const file = join(folder, 'sluice@.service')
  const here = (text: string) => text.replaceAll('/opt/sluice/node_modules/.bin/node', process.execPath)
  const verify = (text: string) => {
    writeFileSync(file, here(text))
    return spawnSync(ANALYZE, ['verify', '--man=no', file], { encoding: 'utf8' }).stderr
  }
  const about = (said: string) => said.split('\n').filter((line) => line.includes('sluice@'))
  expect(about(verify(unit))).toEqual([])
  expect(about(verify(unit.replace('Restart=on-failure', 'Restart=perhaps')))).not.toEqual([])
  rmSync(folder, { recursive: true })
})
