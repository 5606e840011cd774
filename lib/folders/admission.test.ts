import { beforeEach, describe, expect, it } from 'vitest'
import { Admission, type Admitted } from './admission.ts'
import { FOLDER_TERMS } from './terms.ts'

const TERMS = {
  ...FOLDER_TERMS,
  connections: 100,
  signingIn: 10,
  signingInPerNetwork: 3,
  exchanges: { burst: 20, refillMs: 1000 },
  exchangesPerNetwork: { burst: 5, refillMs: 1000 },
}

describe('connection admission', () => {
  let nowMs: number
  let admission: Admission
  beforeEach(() => {
    nowMs = 0
    admission = new Admission({ now: () => nowMs }, TERMS)
  })

  const admit = (address: string, isProxy = false) => admission.admit(address, { isProxy })
  const admitted = (address: string, isProxy = false): Admitted => {
    const given = admit(address, isProxy)
    if (typeof given === 'string') throw new Error(given)
    return given
  }
  const signIn = (address: string) => {
    const partner = admitted(address)
    partner.signedIn()
    partner.left()
  }
  /** Opens connections, each from a different network. Returns the reason for the last refusal. */
  const flood = (connections: number, leave = false) => {
    let last: unknown
    for (let n = 0; n < connections; n++) {
      const given = admit(`198.51.${n >> 8}.${n & 255}`)
      if (typeof given === 'string') last = given
      else if (leave) given.left()
    }
    return last
  }

  it('reserves places for networks from which someone has signed in', () => {
    signIn('192.0.2.1')
    expect(flood(1000)).toBe('signing_in')
    expect(admit('192.0.2.2')).toBe('signing_in')
    for (let n = 0; n < 3; n++) signIn('192.0.2.1')
  })

  it('reserves key exchanges for networks from which someone has signed in', () => {
    signIn('2001:db8:1:2::1')
    expect(flood(1000, true)).toBe('key_exchanges')
    expect(admit('2001:db8:1:3::1')).toBe('key_exchanges')
    for (let n = 2; n < 5; n++) signIn(`2001:db8:1:2::${n}`)
  })

  it('also limits networks from which someone has signed in, individually and in total', () => {
    for (let n = 1; n <= 9; n++) signIn(`192.0.2.${n}`)
    nowMs += 60_000
    for (let n = 0; n < 3; n++) admitted('192.0.2.1')
    expect(admit('192.0.2.1')).toBe('signing_in_of_network')
    for (let n = 2; n <= 8; n++) admitted(`192.0.2.${n}`)
    expect(admit('192.0.2.9')).toBe('signing_in')
    admitted('192.0.2.100')
  })

  it("never treats a proxy's network as known, because everyone connects through it", () => {
    const partner = admitted('192.0.2.1', true)
    partner.signedIn()
    partner.left()
    flood(1000)
    expect(admit('192.0.2.1', true)).toBe('signing_in')
    expect(admit('192.0.2.1')).toBe('signing_in')
  })

  it('frees each place only once', () => {
    for (let n = 0; n < 50; n++) {
      nowMs += 10_000
      const partner = admitted('192.0.2.1')
      partner.left()
      partner.left()
      partner.signedIn()
    }
    expect(flood(10)).toBeUndefined()
    expect(admit('203.0.113.1')).toBe('signing_in')
  })

  it('forgets the networks from which nobody has signed in for the longest time', () => {
    const roomy = { burst: 1e6, refillMs: 1 }
    admission = new Admission(
      { now: () => nowMs },
      { ...TERMS, exchanges: roomy, exchangesPerNetwork: roomy },
    )
    signIn('192.0.2.1')
    signIn('192.0.2.2')
    for (let n = 0; n < 9999; n++) signIn(`10.0.${n >> 8}.${n & 255}`)
    flood(10)
    expect(admit('192.0.2.1')).toBe('signing_in')
    signIn('192.0.2.2')
  })
})
