import { expect, it } from 'vitest'
import { allowedHosts } from './hosts.ts'

it('knows a host with and without its usual port', () => {
  const hosts = allowedHosts(['https://sluice.example', 'http://up.example:8080'])
  for (const host of ['sluice.example', 'sluice.example:443', 'up.example:8080'])
    expect(hosts.has(host)).toBe(true)
  for (const host of ['evil.example', 'up.example', 'sluice.example:80', ''])
    expect(hosts.has(host)).toBe(false)
})

it('takes the loopback addresses for localhost', () => {
  expect(allowedHosts(['http://localhost:3000']).has('127.0.0.1:3000')).toBe(true)
})
