import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { hours, systemClock } from '../../platform/kernel/clock.ts'
import { createGuardedAgents } from '../../platform/net/guarded-agents.ts'
import { assumeRole } from './federation.ts'

const ROLE = 'arn:aws:iam::123456789012:role/sluice'
const SUBJECT = 'workspace:1:data-store:2'
const ends = new Date(systemClock.now() + hours(1)).toISOString()
const folder = mkdtempSync(join(tmpdir(), 'sluice-identity-'))
const tokenFile = join(folder, 'token')

/** The metadata of a container and of an instance, and the Security Token Service. */
let aws: Server
let origin: string
const assumed: { form: Record<string, string>; authorization: string | undefined }[] = []
const keysOf = (name: string) => ({
  Code: 'Success',
  AccessKeyId: `ASIA${name}`,
  SecretAccessKey: 'secret',
  Token: `token-of-${name}`,
  Expiration: ends,
})
const session = (operation: string, name: string) =>
  `<${operation}Response><${operation}Result><Credentials><AccessKeyId>ASIA${name}</AccessKeyId><SecretAccessKey>secret</SecretAccessKey><SessionToken>token</SessionToken><Expiration>${ends}</Expiration></Credentials></${operation}Result></${operation}Response>`
beforeAll(async () => {
  writeFileSync(tokenFile, 'a.b.c')
  aws = createServer(async (request, response) => {
    const form = Object.fromEntries(new URLSearchParams(Buffer.concat(await request.toArray()).toString()))
    const { url, headers } = request
    if (form.Action === 'AssumeRole') assumed.push({ form, authorization: headers.authorization })
    const said =
      url === '/latest/api/token'
        ? 'imds'
        : url === '/container'
          ? JSON.stringify(keysOf('CONTAINER'))
          : url!.endsWith('/security-credentials/')
            ? 'server'
            : url!.endsWith('/security-credentials/server')
              ? JSON.stringify(keysOf('INSTANCE'))
              : session(form.Action!, form.Action === 'AssumeRole' ? 'SESSION' : 'KUBERNETES')
    response.end(said)
  }).listen(0, '127.0.0.1')
  await once(aws, 'listening')
  origin = `http://127.0.0.1:${(aws.address() as AddressInfo).port}`
})
afterEach(() => void vi.unstubAllEnvs())
afterAll(() => {
  aws.closeAllConnections()
  aws.close()
  rmSync(folder, { recursive: true })
})

const deps = (serverKeys?: () => Promise<{ accessKeyId: string; secretAccessKey: string }>) => ({
  clock: systemClock,
  agents: createGuardedAgents(['*']),
  identity: { subject: SUBJECT, issueStatement: async () => '', serverKeys },
})

it.each<[string, string, () => Record<string, string>]>([
  [
    'environment',
    'AKIAENVIRONMENT',
    () => ({ AWS_ACCESS_KEY_ID: 'AKIAENVIRONMENT', AWS_SECRET_ACCESS_KEY: 'x' }),
  ],
  [
    'web identity token file',
    'ASIAKUBERNETES',
    () => ({
      AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile,
      AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/server',
      AWS_ENDPOINT_URL_STS: origin,
      AWS_REGION: 'eu-west-1',
    }),
  ],
  ['container', 'ASIACONTAINER', () => ({ AWS_CONTAINER_CREDENTIALS_FULL_URI: `${origin}/container` })],
  ['instance', 'ASIAINSTANCE', () => ({ AWS_EC2_METADATA_SERVICE_ENDPOINT: origin })],
])("assumes a role with the identity of the server's %s, and with the external ID", async (_, keyId, env) => {
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_PROFILE'])
    vi.stubEnv(name, undefined)
  for (const [name, value] of Object.entries({ HOME: folder, ...env() })) vi.stubEnv(name, value)
  vi.resetModules()
  const { readServerKeys } = await import('./server-identity.ts')
  const { value } = await assumeRole(ROLE, { endpoint: origin, region: 'eu-west-1' }, deps(readServerKeys))
  expect(value).toMatchObject({ accessKeyId: 'ASIASESSION', sessionToken: 'token' })
  expect(assumed.at(-1)).toMatchObject({
    form: { RoleArn: ROLE, ExternalId: SUBJECT },
    authorization: expect.stringMatching(`Credential=${keyId}/\\d{8}/eu-west-1/sts/aws4_request`),
  })
})

it('uses no identity of the server without permission by the operator, and shows it to nobody but AWS', async () => {
  const before = assumed.length
  const serverKeys = vi.fn(async () => ({ accessKeyId: 'AKIASERVER', secretAccessKey: 'secret' }))
  const refused = { kind: 'refused', code: 'NoToken' }
  const place = { endpoint: origin, region: 'eu-west-1' }
  await expect(assumeRole(ROLE, place, deps())).rejects.toMatchObject(refused)
  for (const endpoint of [
    'https://s3.example.com',
    'https://s3.amazonaws.com.example.com',
    'https://8.8.8.8',
  ])
    await expect(assumeRole(ROLE, { ...place, endpoint }, deps(serverKeys))).rejects.toMatchObject(refused)
  expect(serverKeys).not.toHaveBeenCalled()
  expect(assumed).toHaveLength(before)
})
