import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { BALANCERS, findBalancer } from '../../test/support/shipped-balancer.ts'
import { type TusReply, tusCall } from '../../test/support/tus-client.ts'
import { runDrill } from '../drills/drill.ts'
import type { OutageName } from '../drills/outages.ts'
import { openStage, type Stage } from '../drills/stage.ts'
import { uploadByTusJs } from '../drills/upload-by-tus-js.ts'

/** The shipped nginx.conf and haproxy.cfg, in the real programs. `npm run drill` has the same outages at full length. */
const MiB = 1024 * 1024
const missing = BALANCERS.filter((kind) => !findBalancer(kind))
if (missing.length > 0) console.warn(`skipped, not installed: ${missing.join(', ')}`)

/** HAProxy looks at its nodes more often, as the outages are shorter. */
const changes: [string, string][] = [['inter 2s', 'inter 200ms']]

for (const balancer of BALANCERS)
  describe.skipIf(missing.includes(balancer))(`${balancer} as shipped`, () => {
    let stage: Stage
    beforeAll(async () => {
      const postgresUrl = inject('postgresUrl')
      stage = await openStage({ postgresUrl, balancer, changes, bytesPerSecond: 3 * MiB })
    })
    afterAll(() => stage?.close())

    it.each<[OutageName, number]>([
      ['database away', 2500],
      ['both upload nodes away', 1000],
    ])('%s: every upload goes on where it was', async (outage, forMs) => {
      const size = { uploads: 4, uploadBytes: 6 * MiB }
      const before = stage.balancer.output().length
      const result = await runDrill(stage, { ...{ outage, forMs, upload: uploadByTusJs }, ...size })
      expect(result).toMatchObject({ created: 4, whole: 4 })
      // Upload nodes answer for themselves while the database is away, so they stay in rotation.
      if (outage === 'database away')
        expect(stage.balancer.output().slice(before)).not.toMatch(/upload-\d is DOWN/)
    })

    it('logs a request under the id that Sluice logs and answers', async () => {
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

      it.each(['HEAD', 'PATCH'])('answers %s with 423, to pages of any origin', async (method) => {
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

      it('answers the rest with an error that clients repeat', async () => {
        const answer = await ask('POST', 'https://customer.example')
        expect([502, 503]).toContain(answer.status)
        expect(JSON.parse(answer.body)).toMatchObject({ code: 'unavailable' })
        expect(answer.headers['access-control-allow-origin']).toBe('https://customer.example')
      })
    })
  })
