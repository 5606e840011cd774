import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { AUDIT_KINDS } from './record-audit.ts'

it('records only kinds of actions that can be chosen in the audit log filter', () => {
  const sources = globSync('{lib,server,scripts}/**/*.ts', { exclude: ['**/*.test.ts'] })
  const lines = sources.flatMap((file) => readFileSync(file, 'utf8').split('\n'))
  const found = lines
    .filter((line) => /\baction\b|\bchange\(/.test(line))
    .flatMap((line) => [...line.matchAll(/'([a-z_]+)\.[a-z_]+'/g)].map(([, kind]) => kind!))
  expect([...new Set(found)].sort()).toEqual(Object.keys(AUDIT_KINDS).sort())
})
