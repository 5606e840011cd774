/** @module-tag long */
import fc from 'fast-check'
import { beforeAll, expect, inject, it } from 'vitest'
import { randomOf } from '../../test/support/random.ts'
import { ask } from '../../test/support/raw-http.ts'
import { targetOf } from '../../test/support/target.ts'
import { newTus, type Tus } from '../../test/support/tus.ts'
import { knowTarget, sendShaped } from '../fuzz/send-shaped.ts'
import { shapeRequest } from '../fuzz/shape-requests.ts'

/** No input causes a 500: the server accepts or rejects whatever headers a client sends, and survives. */
let tus: Tus
let address: string
beforeAll(async () => {
  tus = await newTus(targetOf(inject('demo')))
  address = await tus.create(1000)
})

/** All characters allowed in an HTTP/1.1 field (RFC 9110, 5.5), written as raw bytes. */
const fieldText = fc
  .array(
    fc.oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.constant(9), fc.integer({ min: 0x80, max: 0xff })),
    {
      maxLength: 200,
    },
  )
  .map((codes) => Buffer.from(codes).toString('latin1'))
const almost = (...right: string[]) =>
  fc.oneof(
    fieldText,
    fc.constantFrom(...right),
    fc.tuple(fc.constantFrom(...right), fieldText).map(([start, end]) => start + end),
    fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
  )

const HEADERS: Record<string, fc.Arbitrary<string>> = {
  'Upload-Length': almost('0', '5', '1e3'),
  'Upload-Offset': almost('0', '1000'),
  'Upload-Defer-Length': almost('1', '0'),
  'Upload-Metadata': almost('filename YQ==', 'filename YQ==,filetype dGV4dC9wbGFpbg==', 'a,b,c', 'filename '),
  'Upload-Checksum': almost('sha1 ', 'crc32 AAAAAA==', 'md5 x'),
  'Upload-Concat': almost('partial', 'final;/a /b', 'final;'),
  'Tus-Resumable': almost('1.0.0'),
  'Content-Type': almost('application/offset+octet-stream', 'text/plain;charset='),
  'X-HTTP-Method-Override': almost('PATCH', 'HEAD', 'DELETE ', 'CONNECT'),
  Authorization: almost('Bearer tmp_x', 'Bearer sk_x', 'Basic x', 'Bearer '),
  Origin: almost('https://a.example', 'null'),
  'X-Forwarded-For': almost('1.2.3.4', '::1'),
  'X-Forwarded-Host': almost('evil.example'),
  'X-Request-Id': almost('x'),
  Trailer: almost('Upload-Checksum'),
}

const someHeaders = fc.record(HEADERS, { requiredKeys: [] })
const refused = (status: number) => status < 500

it('no header causes a 500', async () => {
  const methods = fc.constantFrom('POST', 'HEAD', 'PATCH', 'DELETE', 'OPTIONS', 'GET', 'PUT')
  await fc.assert(
    fc.asyncProperty(methods, someHeaders, async (method, headers) => {
      const to = method === 'POST' || method === 'OPTIONS' ? tus.uploadUrl : `${address}0`
      const { status } = await ask(method, tus.at(to), { ...tus.common, ...headers })
      expect(refused(status), `${status}`).toBe(true)
    }),
    { numRuns: 60 },
  )
})

it('no header of the other protocols causes a 500', async () => {
  const others = fc.record(
    {
      'Upload-Complete': almost('?0', '?1', '1'),
      'Upload-Incomplete': almost('?0', '?1'),
      'Upload-Draft-Interop-Version': almost('3', '6', '8', '10'),
      'Upload-Length': almost('0', '5'),
      'Upload-Offset': almost('0', '1000'),
      'Content-Type': almost('application/partial-upload', 'text/plain'),
      'Content-Disposition': almost('inline; filename=a', "inline; filename*=UTF-8''%e2%82%ac"),
      'Content-MD5': almost('1B2M2Y8AsgTpgAmY7PhCfg=='),
      'Content-Digest': almost('sha-256=:AAAA:'),
      'Repr-Digest': almost('sha-512=:AAAA:', 'sha-256=1'),
    },
    { requiredKeys: [] },
  )
  const methods = fc.constantFrom('POST', 'PUT', 'HEAD', 'PATCH', 'DELETE', 'GET')
  await fc.assert(
    fc.asyncProperty(methods, others, async (method, headers) => {
      const made = method === 'POST' ? tus.uploadUrl : `${tus.uploadUrl}%41`
      const url = tus.at(['POST', 'PUT'].includes(method) ? made : address)
      const { status } = await ask(
        method,
        url,
        { Authorization: tus.common.Authorization, ...headers },
        'hello',
      )
      expect(refused(status), `${status}`).toBe(true)
    }),
    { numRuns: 30 },
  )
})

it('no metadata causes a 500, and accepted metadata is returned as sent', async () => {
  const value = fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('base64'))
  const key = fc.oneof(fc.constantFrom('filename', 'filetype', '__proto__', 'constructor', 'a'), fieldText)
  const header = fc
    .array(
      fc.tuple(key, fc.oneof(value, fieldText)).map((pair) => pair.join(' ')),
      { maxLength: 4 },
    )
    .map((pairs) => pairs.join(','))
  await fc.assert(
    fc.asyncProperty(header, async (sent) => {
      const answer = await tus.post({ 'Upload-Length': 1, 'Upload-Metadata': sent })
      expect([201, 400, 403]).toContain(answer.status)
      if (answer.status !== 201) return
      const { headers } = await tus.head(answer.headers.location!)
      expect(headers['upload-metadata'] ?? '').toBe(sent.trim())
    }),
    { numRuns: 20 },
  )
})

it('no path causes a 500', async () => {
  const path = fc.oneof(
    fc.webPath(),
    fc
      .array(fc.constantFrom('..', '%2e%2e', '%2f', '%00', '%ff', '//', 'pipes', 'files', ' '.trim(), '%'))
      .map((parts) => parts.join('/')),
  )
  await fc.assert(
    fc.asyncProperty(path, async (text) => {
      const url = new URL(tus.uploadUrl)
      const target = {
        host: url.host,
        port: url.port,
        hostname: url.hostname,
        pathname: `/pipes/${text}`,
        search: '',
      }
      const { status } = await ask('HEAD', target as URL, tus.common)
      expect(refused(status), `${status}`).toBe(true)
    }),
    { numRuns: 30 },
  )
})

it('no request of any kind causes a 5xx', async () => {
  const target = targetOf(inject('demo'))
  const known = await knowTarget(target)
  for (let n = 0; n < 40; n++) {
    const shaped = shapeRequest(randomOf(String(n)), known)
    expect(await sendShaped(target.baseUrl, shaped), JSON.stringify(shaped)).toBeLessThan(500)
  }
})
