import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from '../lib/platform/kernel/errors.ts'
import { runScript } from './run-script.ts'

/**
 * `npm run generate -- chart`: Helm's output for the chart, with its defaults and with everything enabled. The files
 * are committed, so that a change to the chart shows its effect on a cluster, and so that they are checked without
 * Helm: each starts with the digest of the chart it was rendered from.
 */
export const CHART = 'deploy/chart'
export const RENDERED = 'deploy/rendered'
/** Without a values file of that name, uses the chart's values. */
export const VARIANTS = ['defaults', 'everything'] as const
export type Variant = (typeof VARIANTS)[number]

export const renderedFile = (variant: Variant) => join(RENDERED, `${variant}.yaml`)

export const hasHelm = () => spawnSync('helm', ['version']).status === 0

export function helm(...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync('helm', args, { encoding: 'utf8' })
  if (error) throw new StartError('This needs Helm (https://helm.sh) on the PATH.')
  if (status !== 0) throw new StartError(`helm ${args[0]} failed: ${stderr}${stdout}`)
  return stdout
}

/** Hashes the chart and the values. */
export function chartDigest(variant: Variant): string {
  const hash = createHash('sha256')
  const files = globSync(`${CHART}/**/*.*`).sort()
  for (const file of [...files, ...valuesOf(variant)]) hash.update(`${file}\n`).update(readFileSync(file))
  return hash.digest('hex')
}

export const headOf = (variant: Variant) =>
  `# Made by \`npm run generate -- chart\` of ${chartDigest(variant)}.\n`

export function render(variant: Variant): string {
  const values = valuesOf(variant).flatMap((file) => ['--values', file])
  return headOf(variant) + helm('template', 'sluice', CHART, '--namespace', 'sluice', ...values)
}

function valuesOf(variant: Variant): string[] {
  return [join(RENDERED, `${variant}.values.yaml`)].filter((file) => existsSync(file))
}

if (import.meta.main) {
  await runScript(async () => {
    for (const variant of VARIANTS) writeFileSync(renderedFile(variant), render(variant))
  })
}
