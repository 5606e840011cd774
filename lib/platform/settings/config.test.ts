import { mkdtempSync, readFileSync, statSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { envExample } from '../../../scripts/env-example.ts'
import { loadConfig, uploadMemory } from './config.ts'

const DATA_DIR = mkdtempSync(join(tmpdir(), 'sluice-config-'))
const production = {
  DATABASE_URL: 'postgres://sluice@localhost/sluice',
  ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'),
  AUTH_SECRET: 'x'.repeat(32),
}

const MiB = 1024 ** 2
const GiB = 1024 ** 3

describe('loadConfig', () => {
  it('needs no settings with the embedded database, and generates its keys once', () => {
    const first = loadConfig({ DATA_DIR })
    expect(first).toMatchObject({
      port: 3000,
      host: '127.0.0.1',
      baseUrl: 'http://localhost:3000',
      demo: true,
    })
    expect(first.allowedPrivateHosts).toEqual(['*'])
    expect(loadConfig({ DATA_DIR }).authSecret).toBe(first.authSecret)
    expect(statSync(join(DATA_DIR, 'secrets.json')).mode & 0o777).toBe(0o600)
  })

  it.each([
    [{ BASE_URL: 'https://sluice.example.com' }],
    [{ UPLOAD_URL: 'https://uploads.example.com' }],
    [{ BASE_URL: 'http://192.168.1.7:3000' }],
    [{ BASE_URL: 'http://127.0.0.1.example.com' }],
    [{ TRUSTED_PROXIES: '127.0.0.1' }],
  ])('does not allow private addresses behind a proxy on the same machine: %j', (env) => {
    const embedded = { DATA_DIR, HOST: '127.0.0.1', ...env }
    expect(loadConfig(embedded).allowedPrivateHosts).toEqual([])
    const chosen = { ...embedded, ALLOWED_PRIVATE_HOSTS: 'minio.internal:9000' }
    expect(loadConfig(chosen).allowedPrivateHosts).toEqual(['minio.internal:9000'])
  })

  it.each([
    [{ HOST: '::1', BASE_URL: 'http://[::1]:3000' }],
    [{ BASE_URL: 'http://127.0.0.2:3000', UPLOAD_URL: 'http://uploads.localhost:3000' }],
  ])('allows private addresses if only this machine can reach the server: %j', (env) => {
    expect(loadConfig({ DATA_DIR, ...env }).allowedPrivateHosts).toEqual(['*'])
  })

  it('uses PORT in the addresses', () => {
    expect(loadConfig({ DATA_DIR, PORT: '4000' }).uploadUrl).toBe('http://localhost:4000')
  })

  it('serves HTTPS if a certificate and its key are set', () => {
    const files = { TLS_CERT_FILE: '/tls/cert.pem', TLS_KEY_FILE: '/tls/key.pem' }
    expect(loadConfig({ DATA_DIR, ...files })).toMatchObject({
      tls: { certFile: '/tls/cert.pem', keyFile: '/tls/key.pem' },
      baseUrl: 'https://localhost:3000',
    })
    expect(loadConfig({ DATA_DIR }).tls).toBeUndefined()
    const acme = { ACME_DIRECTORY: 'https://ca.example/dir' }
    expect(loadConfig({ DATA_DIR, ...files, ...acme }).acmeDirectory).toBe('https://ca.example/dir')
    expect(() => loadConfig({ DATA_DIR, ...acme })).toThrow('ACME_DIRECTORY needs TLS_CERT_FILE')
    expect(() => loadConfig({ DATA_DIR, ...files, ACME_DIRECTORY: 'http://ca.example' })).toThrow(
      'ACME_DIRECTORY must be an https address',
    )
    expect(() => loadConfig({ DATA_DIR, ...files, TLS_KEY_FILE: '' })).toThrow(
      'TLS_CERT_FILE and TLS_KEY_FILE go together',
    )
    expect(() => loadConfig({ DATA_DIR, ...files, BASE_URL: 'http://sluice.example.com' })).toThrow(
      '- BASE_URL must start with https:// with TLS_CERT_FILE',
    )
  })

  it('names the valid ports', () => {
    expect(() => loadConfig({ DATA_DIR, PORT: '99999' })).toThrow('- PORT must be from 0 to 65535')
  })

  it('requires more settings in production', () => {
    expect(loadConfig(production)).toMatchObject({ host: '0.0.0.0', demo: false, allowedPrivateHosts: [] })
    expect(() => loadConfig({ DATABASE_URL: production.DATABASE_URL })).toThrow(
      /ENCRYPTION_KEY is required.*\n.*AUTH_SECRET is required/,
    )
  })

  it('requires a certificate for FTP only of processes that receive uploads', () => {
    const ftp = { ...production, FTP_PORT: '2121' }
    expect(() => loadConfig({ ...ftp, ROLES: 'upload' })).toThrow('FTP_PORT needs TLS_CERT_FILE')
    expect(loadConfig({ ...ftp, ROLES: 'web' }).ftp).toMatchObject({ port: 2121 })
  })

  it.each(['nginx', '10.0.0.0/99', 'fd00::/129', '10.0.0.0/', '10.0.0.0/8/8', '10.0.0/8'])(
    'reports that TRUSTED_PROXIES=%s is not a network',
    (TRUSTED_PROXIES) => {
      expect(() => loadConfig({ ...production, TRUSTED_PROXIES })).toThrow(
        /TRUSTED_PROXIES must be addresses or networks/,
      )
    },
  )

  it.each(['https://example.com/sluice', 'https://example.com/?a', 'https://example.com/#a'])(
    'reports that %s cannot be the BASE_URL',
    (BASE_URL) => {
      expect(() => loadConfig({ ...production, BASE_URL })).toThrow(
        /BASE_URL must be an address without a path/,
      )
    },
  )

  it('accepts networks of both families', () => {
    const TRUSTED_PROXIES = '10.0.0.0/8, 192.168.1.7,fd00::/8,::1'
    expect(loadConfig({ ...production, TRUSTED_PROXIES }).trustedProxies).toHaveLength(4)
  })

  it.each([
    [{}, true],
    [{ TRUSTED_PROXIES: '10.0.0.0/8' }, false],
    [{ TRUSTED_PROXIES: '10.0.0.0/8', INTERIM_RESPONSES: '1' }, true],
    [{ INTERIM_RESPONSES: '0' }, false],
  ])('decides with %j whether interim responses are sent: %s', (env, sent) => {
    expect(loadConfig({ ...production, ...env }).interimResponses).toBe(sent)
  })

  it('reports all errors together, each with the name of its setting', () => {
    const env = {
      DATA_DIR,
      PORT: 'http',
      ROLES: 'web,uploads',
      DEMO: 'yes',
      SMTP_URL: 'mail',
      ENCRYPTION_KEY: 'short',
    }
    for (const name of ['PORT', 'ROLES', 'DEMO', 'SMTP_URL', 'ENCRYPTION_KEY']) {
      expect(() => loadConfig(env)).toThrow(new RegExp(`- ${name} must`))
    }
  })

  it('with the embedded database, serves the network only without the demo and with keys from the environment', () => {
    const { ENCRYPTION_KEY, AUTH_SECRET } = production
    const shown = { DATA_DIR, HOST: '0.0.0.0' }
    expect(() => loadConfig(shown)).toThrow(
      /HOST is 0\.0\.0\.0.* also needs DEMO=0, ENCRYPTION_KEY, AUTH_SECRET/,
    )
    expect(() => loadConfig({ ...shown, DEMO: '0', AUTH_SECRET })).toThrow(/also needs ENCRYPTION_KEY/)
    expect(loadConfig({ ...shown, DEMO: '0', ENCRYPTION_KEY, AUTH_SECRET })).toMatchObject({
      host: '0.0.0.0',
      demo: false,
      allowedPrivateHosts: [],
    })
  })

  it('requires both settings of a sign-in provider', () => {
    expect(() => loadConfig({ DATA_DIR, GITHUB_CLIENT_ID: 'x' })).toThrow(
      /GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET go together/,
    )
  })

  it('requires all settings of an OpenID Connect provider, over https', () => {
    const oidc = { OIDC_ISSUER: 'https://id.example.com', OIDC_CLIENT_ID: 'x', OIDC_CLIENT_SECRET: 'y' }
    expect(loadConfig({ ...production, ...oidc }).oidc).toEqual({
      issuer: 'https://id.example.com',
      clientId: 'x',
      clientSecret: 'y',
      name: 'Single sign-on',
    })
    expect(loadConfig(production).oidc).toBeUndefined()
    const { OIDC_CLIENT_SECRET: _, ...half } = oidc
    expect(() => loadConfig({ ...production, ...half })).toThrow(/also set OIDC_CLIENT_SECRET/)
    const plain = (host: string) => loadConfig({ ...production, ...oidc, OIDC_ISSUER: `http://${host}` })
    expect(() => plain('id.example.com')).toThrow(/OIDC_ISSUER must start with https/)
    expect(plain('127.0.0.1:8080').oidc?.issuer).toBe('http://127.0.0.1:8080')
  })

  it('reads several encryption keys', () => {
    const two = `${production.ENCRYPTION_KEY},${Buffer.alloc(32, 2).toString('base64')}`
    expect(loadConfig({ ...production, ENCRYPTION_KEY: two }).encryptionKeys).toHaveLength(2)
  })

  it('has one process unless PROCESSES is set, and several only with the upload role', () => {
    const count = (env: Record<string, string>) => loadConfig({ ...production, ...env }).processes
    expect(count({})).toBe(1)
    expect(count({ PROCESSES: '4' })).toBe(4)
    expect(count({ PROCESSES: '4', ROLES: 'web' })).toBe(1)
    expect(count({ PROCESSES: 'auto' })).toBe(Math.min(availableParallelism(), 8))
    expect(count({ PROCESSES: 'auto', UPLOAD_MEMORY_BYTES: String(64 * MiB) })).toBe(1)
    expect(() => count({ PROCESSES: 'all' })).toThrow(
      '- PROCESSES must be a whole number from 1 to 16, or auto',
    )
    expect(() => count({ PROCESSES: '4', UPLOAD_MEMORY_BYTES: String(255 * MiB) })).toThrow(
      '- UPLOAD_MEMORY_BYTES must be at least 268435456 with PROCESSES=4',
    )
  })

  it('matches .env.example', () => {
    expect(readFileSync('.env.example', 'utf8')).toBe(envExample())
  })
})

it('gives several processes on one machine as much memory as several nodes', () => {
  const machine = { totalBytes: 32 * GiB, limitBytes: 0, processors: 8 }
  expect(uploadMemory(machine, 4)).toBe(4 * GiB)
  expect(uploadMemory({ ...machine, limitBytes: 2 * GiB }, 4)).toBe(GiB / 2)
})

it.each([
  ['a container', { totalBytes: 64 * GiB, limitBytes: 2 * GiB, processors: 16 }, GiB / 2],
  ['a machine with eight processors', { totalBytes: 32 * GiB, limitBytes: 0, processors: 8 }, GiB],
  [
    'a machine whose memory limit is its entire memory',
    { totalBytes: 32 * GiB, limitBytes: 32 * GiB, processors: 8 },
    GiB,
  ],
  [
    'a machine with little memory per processor',
    { totalBytes: 4 * GiB, limitBytes: 0, processors: 16 },
    GiB / 4,
  ],
  ['a tiny machine', { totalBytes: GiB / 2, limitBytes: 0, processors: 4 }, GiB / 8],
])('gives an upload process its share of memory in %s', (_, machine, bytes) => {
  expect(uploadMemory(machine)).toBe(bytes)
})
