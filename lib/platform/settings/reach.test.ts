import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { loadConfig } from './config.ts'
import { RISKS, risksOf } from './reach.ts'

const DATA_DIR = mkdtempSync(join(tmpdir(), 'sluice-reach-'))
const sound = {
  DATABASE_URL: 'postgres://sluice@localhost/sluice',
  ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'),
  AUTH_SECRET: 'x'.repeat(32),
  BASE_URL: 'https://sluice.example.com',
  SMTP_URL: 'smtps://mail.example.com',
}
const risky: Record<string, Record<string, string>> = {
  privateHosts: { ALLOWED_PRIVATE_HOSTS: '*' },
  signUpWithoutMail: { SMTP_URL: '' },
  demo: { DEMO: '1' },
  plainHttp: { UPLOAD_URL: 'http://uploads.example.com' },
  everybodyIsProxy: { TRUSTED_PROXIES: '10.0.0.0/8,::/0' },
}

it('warns about each risky combination, and about nothing else', () => {
  expect(Object.keys(risky)).toEqual(Object.keys(RISKS))
  expect(risksOf(loadConfig(sound))).toEqual([])
  for (const [name, env] of Object.entries(risky))
    expect(risksOf(loadConfig({ ...sound, ...env })), name).toEqual([RISKS[name]!.warning])
})

it('warns about nothing if only this machine can reach the server, and about the demo if others can', () => {
  expect(risksOf(loadConfig({ DATA_DIR }))).toEqual([])
  const shown = { DATA_DIR, BASE_URL: 'https://sluice.example.com' }
  expect(risksOf(loadConfig(shown))).toEqual([RISKS.signUpWithoutMail!.warning, RISKS.demo!.warning])
})

it('accepts settings chosen for a private network', () => {
  expect(risksOf(loadConfig({ ...sound, SIGN_UP: 'closed', SMTP_URL: '' }))).toEqual([])
})
