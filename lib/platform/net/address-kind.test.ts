import { describe, expect, it } from 'vitest'
import { type AddressKind, addressKind } from './judge-connection.ts'

const KINDS: Record<AddressKind, string[]> = {
  public: [
    '8.8.8.8',
    '1.1.1.1',
    '172.15.0.1',
    '172.32.0.1',
    '100.63.255.255',
    '223.255.255.255',
    '2606:4700::1111',
    '2a00:1450::1',
  ],
  local: [
    '127.0.0.1',
    '127.255.255.254',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '::1',
    'fd12::1',
    'fc00::1',
  ],
  shared: ['100.64.0.1', '100.127.255.254'],
  never: [
    '169.254.169.254', // metadata of most clouds
    '169.254.170.2', // ECS
    '100.100.100.200', // Alibaba, inside carrier-grade NAT
    '168.63.129.16', // Azure, a public address
    '192.0.0.192', // Oracle
    'fd00:ec2::254', // AWS, inside unique-local
    'fd20:ce::254', // Google
    'fe80::a9fe:a9fe',
    'fe80::1%eth0',
    '169.254.1.1',
    '0.0.0.0',
    '0.1.2.3',
    '::',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    'ff02::1',
    '2001:db8::1',
    '::ffff:127.0.0.1', // mapped
    '::ffff:8.8.8.8',
    '::ffff:7f00:1',
    '::127.0.0.1', // compatible
    '64:ff9b::7f00:1', // NAT64
    '64:ff9b:1::1',
    '2002:7f00:1::', // 6to4
    '2001:0:7f00:1::', // Teredo
    'fec0::1',
    'not an address',
    '',
  ],
}

describe.each(Object.entries(KINDS))('%s addresses', (kind, addresses) => {
  it.each(addresses)('%s', (address) => {
    expect(addressKind(address)).toBe(kind)
  })
})
