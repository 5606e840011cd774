import { expect, it } from 'vitest'
import { ownPath } from './own-path.ts'

it.each(['/dashboard', '/dashboard/', '/dashboard/files?status=failed#top', '/dashboard?a=//b'])(
  'keeps the dashboard path %s',
  (next) => {
    expect(ownPath(next)).toBe(next)
  },
)

it.each([
  '/dashboard/..//evil.example/x',
  '/dashboard/%2e%2e//evil.example/x',
  '/dashboard/a/..\\..//evil.example',
  '/dashboard/.\t./\n/evil.example',
  '/dashboardx',
  '//evil.example/dashboard',
  'https://evil.example/dashboard',
  'javascript:alert(1)',
  'http://[',
  '',
])('replaces %j with the dashboard', (next) => {
  expect(ownPath(next)).toBe('/dashboard')
})
