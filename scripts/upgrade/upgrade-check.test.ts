import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { compareBalancer, tellMigration, unreadSettings } from './findings.ts'

describe.each(['nginx.conf', 'haproxy.cfg'])('a balancer file based on %s', (name) => {
  const shipped = readFileSync(`deploy/${name}`, 'utf8')
  const own = shipped
    .replaceAll('upload-1:3000', '10.1.2.3:3000')
    .replaceAll(/ {4}server upload-2[^\n]*\n|listen 8080;/g, '')
    .replaceAll('    ', '\t')

  it('is complete if only its addresses and spaces differ', () => {
    expect(compareBalancer(own, '.')).toEqual({ shipped: `deploy/${name}`, missing: [] })
  })

  it('is reported as incomplete if a line is missing', () => {
    const line =
      name === 'nginx.conf' ? 'proxy_request_buffering off;' : 'option httpchk GET /readyz?for=upload'
    expect(compareBalancer(own.replace(line, ''), '.').missing).toEqual([line])
  })
})

it('names unknown settings, and what was probably meant', () => {
  const text = 'PORT=1\nUPLOAD_MEMORY=3\nSIGNUP=open\n# OLD=1\n'
  expect(unreadSettings(text)).toEqual([
    { name: 'SIGNUP', meant: undefined },
    { name: 'UPLOAD_MEMORY', meant: 'UPLOAD_MEMORY_BYTES' },
  ])
})

describe('a migration', () => {
  const costs = new Map([
    ['files', { rows: 2_000_000, bytes: 4e8, indexes: 4, readMs: 900, copyMs: 4000, indexMs: 1500 }],
  ])
  const told = (lock: string, rows: 'rewritten' | 'untouched') =>
    tellMigration({ name: '0099_new.sql', effects: [{ table: 'files', lock, rows, indexes: 0 }] }, costs)

  it('is marked if it makes uploads wait for more than two seconds', () => {
    expect(told('AccessExclusiveLock', 'rewritten')).toEqual({
      lines: [
        '! 0099_new.sql: about 10.0 s',
        '      files (2,000,000 rows, 400.0 MB): AccessExclusiveLock, readers and writers wait; the table is rewritten',
      ],
      isLong: true,
    })
  })

  it('is not marked otherwise', () => {
    expect(told('AccessExclusiveLock', 'untouched').isLong).toBe(false)
    expect(told('ShareUpdateExclusiveLock', 'rewritten').isLong).toBe(false)
  })
})
