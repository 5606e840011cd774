import { expect, it } from 'vitest'
import { networkOf, siteOf } from './rate-limits.ts'

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '::ffff:192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
  ['2001:0DB8:1:2::6', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['1::2:3:4:5:6:7', '1:0:2:3::/64'],
  ['::1', '0:0:0:0::/64'],
])('counts %s as %s', (address, network) => expect(networkOf(address)).toBe(network))

it.each([
  ['192.0.2.1', undefined],
  ['::ffff:192.0.2.1', undefined],
  ['2001:0db8:1:2::6', '2001:db8:1::/48'],
  ['2001:db8::1', '2001:db8:0::/48'],
])('counts %s as part of %s', (address, site) => expect(siteOf(address)).toBe(site))
