import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { systemClock } from '../../platform/kernel/clock.ts'
import { createGuardedAgents, type ResolveHost } from '../../platform/net/guarded-agents.ts'
import { assumeFederatedRole, requestAzureToken, requestGoogleToken } from './federation.ts'
import { stsOf } from './sts.ts'

const redirecting = createServer((_, response) =>
  response.writeHead(307, { location: 'http://169.254.169.254/latest/api/token' }).end(),
)
let redirects: string
beforeAll(async () => {
  redirecting.listen(0, '127.0.0.1')
  await once(redirecting, 'listening')
  redirects = `http://127.0.0.1:${(redirecting.address() as AddressInfo).port}`
})
afterAll(() => void redirecting.close())

/** `metadata.example` is that address, and `rebinding.example` becomes it after its first resolution. */
let resolved = 0
const resolve: ResolveHost = async (name) => {
  const isSafe = name === 'rebinding.example' && resolved++ === 0
  return [{ address: isSafe ? '127.0.0.1' : '169.254.169.254', family: 4 }]
}

it.each([
  'http://169.254.169.254',
  'http://2852039166',
  'http://0xa9fea9fe',
  'http://0251.0376.0251.0376',
  'http://[fd00:ec2::254]',
  'http://[::ffff:169.254.169.254]',
  'http://169.254.170.2',
  'http://100.100.100.200',
  'http://168.63.129.16',
  'http://[fd20:ce::254]',
  'http://metadata.example',
  'http://rebinding.example',
  'a redirect',
])('exchanges no statement with the metadata service at %s', async (address) => {
  const endpoint = address.startsWith('http') ? address : redirects
  const place = { endpoint, region: 'eu-west-1' }
  resolved = address.includes('rebinding') ? 1 : 0
  const deps = {
    clock: systemClock,
    agents: createGuardedAgents(['*'], { resolve }),
    identity: { subject: 'subject', issueStatement: async () => 'statement' },
  }
  const exchanges = [
    assumeFederatedRole({ role: 'arn:aws:iam::123456789012:role/sluice' }, place, deps),
    requestAzureToken(
      { tenantId: 'tenant', clientId: 'client' },
      { endpoint: `${endpoint}/acmemedia` },
      deps,
    ),
    requestGoogleToken({ identityProvider: 'projects/1' }, place, deps),
    requestGoogleToken({ identityProvider: 'projects/1', serviceAccount: 'a@b.example' }, place, deps),
  ]
  for (const outcome of await Promise.allSettled(exchanges))
    expect(outcome).toMatchObject({ status: 'rejected', reason: { kind: 'refused', code: 'NoToken' } })
})

it.each([
  ['https://s3.eu-central-1.amazonaws.com', 'eu-central-1', 'https://sts.eu-central-1.amazonaws.com/'],
  ['https://s3.cn-north-1.amazonaws.com.cn', 'cn-north-1', 'https://sts.cn-north-1.amazonaws.com.cn/'],
  ['https://s3.eusc-de-east-1.amazonaws.eu', 'eusc-de-east-1', 'https://sts.eusc-de-east-1.amazonaws.eu/'],
  ['https://minio.example.com:9000', 'us-east-1', 'https://minio.example.com:9000/'],
  ['https://s3.amazonaws.com.example.com', 'us-east-1', 'https://s3.amazonaws.com.example.com/'],
])('assumes roles for buckets at %s in %s at %s', (endpoint, region, sts) => {
  expect(stsOf({ endpoint, region }).href).toBe(sts)
})
