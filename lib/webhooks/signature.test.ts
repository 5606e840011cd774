import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { newWebhookSecret } from '../kernel/ids.ts'
import { signWebhook } from './signature.ts'
import { verifyWebhook } from './verify.ts'

const OLD = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body: '{"test": 2432232314}', atMs: 1_614_265_330_000 }

describe('signWebhook', () => {
  it('agrees with the test vector of Standard Webhooks', () => {
    expect(signWebhook([OLD], message)).toEqual({
      'webhook-id': message.id,
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
      'X-Service-Signature':
        't=1614265330,v1=e96203c6de850e7dc1fde7489ef6140b402d3a5a64fe250cd2eef9830fac1cef',
    })
  })

  it('signs the bytes of the body, whatever they mean', () => {
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

/** Every way that Sluice's own code and the npm package verify. */
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

  it('is accepted with every secret that signs, by us and by the standardwebhooks package', () => {
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

  it('is refused under another id', () => {
    for (const secret of accepts)
      expect(verdicts(secret, { ...headers, 'webhook-id': 'other' }, body)).toMatchObject({
        standard: 'mismatch',
        library: 'No matching signature found',
      })
  })

  it('is refused with an old timestamp, and one of the future', () => {
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

describe('verifyWebhook', () => {
  const check = (headers: Record<string, string>) => verifyWebhook({ headers, body: '{}' }, [OLD], now)

  it('tells what is missing or malformed', () => {
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
