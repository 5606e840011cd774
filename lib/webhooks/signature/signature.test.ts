import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { newWebhookSecret } from '../../platform/kernel/ids.ts'
import { signWebhook, verifyWebhook } from './signature.ts'

const OLD = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body: '{"test": 2432232314}', atMs: 1_614_265_330_000 }

describe('signWebhook', () => {
  it('matches the test vector of Standard Webhooks', () => {
    expect(signWebhook([OLD], message)).toEqual({
      'webhook-id': message.id,
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
      'X-Service-Signature':
        't=1614265330,v1=e96203c6de850e7dc1fde7489ef6140b402d3a5a64fe250cd2eef9830fac1cef',
    })
  })

  it('signs the exact bytes of the body', () => {
    const body = '{"filename":"été 📷\\u2028"}'
    const [secret, now] = [newWebhookSecret(), Date.now()]
    const headers = signWebhook([secret], { id: 'e', body, atMs: now })
    expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body))
  })
})

const secrets = { old: newWebhookSecret(), current: newWebhookSecret(), stranger: newWebhookSecret() }
const now = Date.now()
const phases = {
  'before a rotation': {
    signing: [secrets.old],
    accepts: [secrets.old],
    refuses: [secrets.current, secrets.stranger],
  },
  'during the overlap': {
    signing: [secrets.current, secrets.old],
    accepts: [secrets.current, secrets.old],
    refuses: [secrets.stranger],
  },
  'after a rotation': {
    signing: [secrets.current],
    accepts: [secrets.current],
    refuses: [secrets.old, secrets.stranger],
  },
}

/** The results of verification by Sluice's own code and by the npm package. */
function verdicts(secret: string, headers: Record<string, string>, body: string, nowMs = now) {
  const lower = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  )
  let library = 'valid'
  try {
    new Webhook(secret).verify(body, headers)
  } catch (error) {
    library = (error as Error).message
  }
  return { ...verifyWebhook({ headers: lower, body }, [secret], nowMs), library }
}
const valid = { service: 'valid', standard: 'valid', library: 'valid' }

describe.each(Object.entries(phases))('%s', (_, { signing, accepts, refuses }) => {
  const { body, id } = message
  const headers: Record<string, string> = signWebhook(signing, { id, body, atMs: now })

  it('is accepted with every signing secret, by Sluice and by the standardwebhooks package', () => {
    for (const secret of accepts) expect(verdicts(secret, headers, body)).toEqual(valid)
  })

  it('is refused with any other secret', () => {
    for (const secret of refuses)
      expect(verdicts(secret, headers, body)).toEqual({
        service: 'mismatch',
        standard: 'mismatch',
        library: 'No matching signature found',
      })
  })

  it('is refused with a changed byte', () => {
    for (const secret of accepts)
      expect(verdicts(secret, headers, body.replace('4', '5'))).toMatchObject({
        service: 'mismatch',
        standard: 'mismatch',
        library: 'No matching signature found',
      })
  })

  it('is refused with another id', () => {
    for (const secret of accepts)
      expect(verdicts(secret, { ...headers, 'webhook-id': 'other' }, body)).toMatchObject({
        standard: 'mismatch',
        library: 'No matching signature found',
      })
  })

  it('is refused with an old timestamp, and with one in the future', () => {
    for (const secret of accepts) {
      const old: Record<string, string> = signWebhook(signing, { id, body, atMs: now - 301_000 })
      expect(verdicts(secret, old, body)).toEqual({
        service: 'too_old',
        standard: 'too_old',
        library: 'Message timestamp too old',
      })
      const early: Record<string, string> = signWebhook(signing, { id, body, atMs: now + 310_000 })
      expect(verdicts(secret, early, body)).toEqual({
        service: 'too_new',
        standard: 'too_new',
        library: 'Message timestamp too new',
      })
    }
  })
})

describe('any message', () => {
  const secret = fc
    .uint8Array({ minLength: 24, maxLength: 64 })
    .map((bytes) => `whsec_${Buffer.from(bytes).toString('base64')}`)
  const someSecrets = fc.uniqueArray(secret, { minLength: 2, maxLength: 4 })
  const id = fc.uuid()

  it('is accepted with each secret that signs it, and refused with one that does not', () => {
    fc.assert(
      fc.property(someSecrets, id, fc.json(), ([stranger, ...signing], id, body) => {
        const headers: Record<string, string> = signWebhook(signing, { id, body, atMs: now })
        for (const one of signing) expect(verdicts(one, headers, body)).toEqual(valid)
        expect(verdicts(stranger!, headers, body)).toEqual({
          service: 'mismatch',
          standard: 'mismatch',
          library: 'No matching signature found',
        })
      }),
    )
  })

  it('has headers in both formats, with one entry for each secret, newest first', () => {
    fc.assert(
      fc.property(someSecrets, id, fc.string({ unit: 'binary' }), fc.nat(), (signing, id, body, atMs) => {
        const headers = signWebhook(signing, { id, body, atMs })
        const [t, ...hex] = headers['X-Service-Signature'].split(',')
        const standard = headers['webhook-signature'].split(' ')
        expect(t).toBe(`t=${Math.floor(atMs / 1000)}`)
        expect(headers['webhook-timestamp']).toBe(t!.slice(2))
        for (const one of hex) expect(one).toMatch(/^v1=[0-9a-f]{64}$/)
        for (const one of standard) expect(one).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/)
        expect([hex.length, standard.length]).toEqual([signing.length, signing.length])
        const newest = signWebhook(signing.slice(0, 1), { id, body, atMs })
        expect(headers['X-Service-Signature'].startsWith(newest['X-Service-Signature'])).toBe(true)
        expect(headers['webhook-signature'].startsWith(newest['webhook-signature'])).toBe(true)
      }),
    )
  })

  it('is refused with any byte changed, in the body or in a signature', () => {
    fc.assert(
      fc.property(secret, id, fc.json(), fc.nat(), (one, id, body, at) => {
        const headers: Record<string, string> = signWebhook([one], { id, body, atMs: now })
        const changed = Buffer.from(body)
        changed[at % changed.length]! ^= 1
        expect(verdicts(one, headers, changed.toString('latin1'))).toMatchObject({
          service: 'mismatch',
          standard: 'mismatch',
        })
        const flip = (text: string) => {
          const place = text.length - 2 - (at % 40)
          return text.slice(0, place) + (text[place] === 'a' ? 'b' : 'a') + text.slice(place + 1)
        }
        const forged = {
          ...headers,
          'X-Service-Signature': flip(headers['X-Service-Signature']!),
          'webhook-signature': flip(headers['webhook-signature']!),
        }
        expect(verdicts(one, forged, body)).toMatchObject({ service: 'mismatch', standard: 'mismatch' })
      }),
    )
  })

  it('never throws for malicious headers', () => {
    const header = fc.oneof(
      fc.string(),
      fc.constantFrom('t=1,v1=', 'v1,', 'v1, v1,a', 't=,v1=a'),
      fc.string().map((end) => `t=1,v1=${end}`),
    )
    fc.assert(
      fc.property(header, header, header, (service, t, standard) => {
        const headers = {
          'x-service-signature': service,
          'webhook-id': 'a',
          'webhook-timestamp': t,
          'webhook-signature': standard,
        }
        const verdict = verifyWebhook({ headers, body: '{}' }, [OLD], now)
        expect([verdict.service, verdict.standard]).not.toContain('valid')
      }),
    )
  })
})

describe('verifyWebhook', () => {
  const check = (headers: Record<string, string>) => verifyWebhook({ headers, body: '{}' }, [OLD], now)

  it('reports what is missing or malformed', () => {
    expect(check({})).toEqual({ service: 'missing', standard: 'missing' })
    expect(
      check({
        'x-service-signature': 'v1=abc',
        'webhook-id': 'a',
        'webhook-timestamp': '1',
        'webhook-signature': 'v2,x',
      }),
    ).toEqual({ service: 'malformed', standard: 'malformed' })
    expect(check({ 'x-service-signature': 't=now,v1=abc' })).toEqual({
      service: 'malformed',
      standard: 'missing',
    })
  })
})
