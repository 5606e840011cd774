/** @module-tag long */
import { execFile, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { http2Call, httpCall, openCall } from '../../test/support/http-call.ts'
import { freePort } from '../../test/support/postgres.ts'
import { BALANCERS, findBalancer } from '../../test/support/shipped-balancer.ts'
import { fileIdOf, type TusReply, tusCall } from '../../test/support/tus-client.ts'
import { type OutageName, runDrill } from '../drills/drill.ts'
import { openStage, type Stage } from '../drills/stage.ts'
import { uploadByTusJs } from '../drills/upload-by.ts'

/**
 * Tests the shipped nginx.conf and haproxy.cfg with the real programs. `npm run drill` runs the same outages at full
 * length.
 */
const MiB = 1024 * 1024
const run = promisify(execFile)
const hasCurl = spawnSync('curl', ['--version']).status === 0
const missing = BALANCERS.filter((kind) => !findBalancer(kind))
if (missing.length > 0) console.warn(`skipped, not installed: ${missing.join(', ')}`)

/** HAProxy checks its nodes more often, since the outages are shorter. */
const http2Port = await freePort()
const changes: [string, string][] = [
  ['inter 2s', 'inter 200ms'],
  // Accepts HTTP/2, as a server with TLS does.
  ['    location /pipes/ {', `    listen 127.0.0.1:${http2Port} http2;\n    location /pipes/ {`],
]
/** Identifies a Resumable Uploads for HTTP request. */
const DRAFT = { 'Upload-Draft-Interop-Version': '8' }

for (const balancer of BALANCERS)
  describe.skipIf(missing.includes(balancer))(`${balancer} as shipped`, () => {
    let stage: Stage
    beforeAll(async () => {
      const postgresUrl = inject('postgresUrl')
      stage = await openStage({ postgresUrl, balancer, changes, bytesPerSecond: 3 * MiB })
    })
    afterAll(() => stage?.close())

    it.each<[OutageName, number]>([
      ['database down', 2500],
      ['both upload nodes down', 1000],
    ])('%s: every upload resumes where it stopped', async (outage, forMs) => {
      const size = { uploads: 4, uploadBytes: 6 * MiB }
      const before = stage.balancer.output().length
      const result = await runDrill(stage, {
        outage,
        forMs,
        upload: uploadByTusJs,
        ...size,
      })
      expect(result).toMatchObject({ created: 4, whole: 4 })
      // Upload nodes respond themselves while the database is down, so they stay in rotation.
      if (outage === 'database down')
        expect(stage.balancer.output().slice(before)).not.toMatch(/upload-\d is DOWN/)
    })

    it.skipIf(!hasCurl)('curl -T: a file with any name arrives complete', async () => {
      const bytes = randomBytes(5 * MiB)
      await using folder = await mkdtempDisposable(join(tmpdir(), 'sluice-curl-'))
      const file = join(folder.path, 'my film.bin')
      await writeFile(file, bytes)
      const authorization = `Authorization: Bearer ${await stage.site.token()}`
      const { stdout } = await run('curl', ['-sST', file, '-H', authorization, stage.uploadUrl])
      const { id, ...described } = JSON.parse(stdout)
      expect(described).toMatchObject({ filename: 'my film.bin', size: bytes.length, status: 'transferred' })
      expect((await stage.site.bucket.object(`${id}/my film.bin`)).equals(bytes)).toBe(true)
    })

    it('Resumable Uploads for HTTP: sends 104 if the balancer forwards it', async () => {
      const token = await stage.site.token()
      const bytes = randomBytes(3 * MiB)
      const headers = { ...DRAFT, 'Upload-Complete': '?1', 'Content-Length': String(bytes.length) }
      const call = openCall({ method: 'POST', url: stage.uploadUrl, token, headers })
      await call.write(bytes.subarray(0, MiB))
      if (balancer === 'nginx') {
        await call.write(bytes.subarray(MiB))
        expect((await call.reply).status).toBe(201)
        expect(call.interim).toEqual([])
        return
      }
      await expect.poll(() => call.interim).toHaveLength(1)
      call.cut()
      const url = call.interim[0]!.headers.location!
      const { headers: standing } = await httpCall({ method: 'HEAD', url, token, headers: DRAFT })
      const offset = Number(standing['upload-offset'])
      const rest = await httpCall({
        method: 'PATCH',
        url,
        token,
        headers: {
          ...DRAFT,
          'Upload-Complete': '?1',
          'Upload-Offset': String(offset),
          'Content-Type': 'application/partial-upload',
        },
        body: bytes.subarray(offset),
      })
      expect(rest.status).toBe(201)
      const { id } = JSON.parse(rest.body)
      expect((await stage.site.bucket.object(`${id}/file`)).equals(bytes)).toBe(true)
    })

    it.skipIf(balancer !== 'nginx')('accepts all three protocols over HTTP/2', async () => {
      const token = await stage.site.token()
      const body = randomBytes(MiB)
      const send = (method: string, url: string, headers: Record<string, string>) =>
        http2Call(http2Port, { method, url, token, headers, body })
      const tus = { 'Tus-Resumable': '1.0.0', 'Content-Type': 'application/offset+octet-stream' }
      const replies = [
        await send('POST', stage.uploadUrl, { ...tus, 'Upload-Length': String(body.length) }),
        await send('PUT', `${stage.uploadUrl}file`, {}),
        await send('POST', stage.uploadUrl, { ...DRAFT, 'Upload-Complete': '?1' }),
      ]
      for (const { status, headers, interim } of replies) {
        expect([status, interim]).toEqual([201, []])
        const id = fileIdOf(headers.location!)
        expect((await stage.site.bucket.object(`${id}/file`)).equals(body)).toBe(true)
      }
    })

    it('logs a request under the id that Sluice logs and returns', async () => {
      const answer = await tusCall({ method: 'PATCH', url: `${stage.uploadUrl}x` })
      const id = answer.headers['x-request-id']
      const logs = [stage.balancer.log, () => stage.nodes.map((node) => node.output()).join('')]
      const lines = () =>
        logs.map((log) =>
          log()
            .split('\n')
            .find((line) => line.includes(`"requestId":"${id}"`)),
        )
      await expect.poll(lines).toEqual([expect.any(String), expect.any(String)])
      const [theirs, ours] = lines().map((line) => JSON.parse(line!))
      expect(theirs).toMatchObject({
        method: 'PATCH',
        path: new URL(`${stage.uploadUrl}x`).pathname,
        status: 404,
      })
      expect(ours).toMatchObject({ msg: 'request', method: 'PATCH', status: 404, code: 'not_found' })
    })

    describe('with no upload node up', () => {
      beforeAll(() => Promise.all(stage.nodes.map((node) => node.kill())))
      const ask = (method: string, origin?: string): Promise<TusReply> =>
        tusCall({ method, url: `${stage.uploadUrl}x`, headers: { ...(origin && { Origin: origin }) } })

      it.each(['HEAD', 'PATCH'])('responds to %s with 423, for pages on any origin', async (method) => {
        const answer = await ask(method, 'https://customer.example')
        expect(answer.status).toBe(423)
        expect(answer.headers).toMatchObject({
          'retry-after': '2',
          'tus-resumable': '1.0.0',
          'access-control-allow-origin': 'https://customer.example',
          'access-control-expose-headers': expect.stringContaining('Retry-After'),
          vary: 'Origin',
          'x-request-id': expect.stringMatching(/^[0-9a-f-]{32,36}$/),
          'content-type': 'application/problem+json',
        })
        expect((await ask(method)).headers['access-control-allow-origin']).toBe('*')
      })

      it('responds to clients of Resumable Uploads for HTTP with 503', async () => {
        for (const method of ['HEAD', 'PATCH']) {
          const answer = await httpCall({ method, url: `${stage.uploadUrl}x`, headers: DRAFT })
          expect([502, 503]).toContain(answer.status)
        }
      })

      it('responds to other requests with an error after which clients retry', async () => {
        const answer = await ask('POST', 'https://customer.example')
        expect([502, 503]).toContain(answer.status)
        expect(JSON.parse(answer.body)).toMatchObject({ code: 'unavailable' })
        expect(answer.headers['access-control-allow-origin']).toBe('https://customer.example')
      })
    })
  })
